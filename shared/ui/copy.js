// Copy buttons. Without this script one click on the text selects all of it, so a button stays
// hidden until it can do something. Where the page's policy keeps the clipboard shut, the button
// selects the text and says so.

for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!(button instanceof HTMLButtonElement)) continue;
  const source = document.getElementById(button.dataset.copy ?? "");
  if (!source) continue;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent ?? "");
      button.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(source);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
