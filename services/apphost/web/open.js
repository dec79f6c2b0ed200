// The page that asks before an app opens: carry the hash over, which no server sees. Nothing else,
// and never a reload: that would make another site's link look like our own.

const link = /** @type {HTMLAnchorElement} */ (document.getElementById("open"));
link.hash = location.hash;
// a link with a hash to the very address where one is loads nothing: so be at another spelling of it
if (location.hash && link.href === location.href) history.replaceState(null, "", `${location.search || "?"}&${location.hash}`);
