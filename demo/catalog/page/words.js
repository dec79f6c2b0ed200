/** The page's own words. Names, prices and dates arrive from the server in the same language. */

const WORDS = {
  en: {
    title: "The toy shelf",
    search: "Search the shelf",
    refresh: "Refresh",
    loading: "Fetching the toys…",
    one: "1 toy",
    many: "{count} toys",
    empty: "Nothing on the shelf matches “{query}”.",
    bare: "The shelf is empty today.",
    all: "Show everything",
    failed: "The toys could not be fetched.",
    malformed: "The shop answered something this page does not understand.",
    silent: "The host has not sent the toys.",
    cancelled: "The host stopped the request.",
    retry: "Try again",
    setAside: "Set aside",
    setAsideOf: "Set aside: {name}",
    settingAside: "One moment…",
    held: "Yours until {until}",
    gone: "All set aside",
    left: "{left} left",
    since: "Since {added}",
    refused: "Not allowed here: {reason}",
  },
  de: {
    title: "Das Spielzeugregal",
    search: "Im Regal suchen",
    refresh: "Neu laden",
    loading: "Spielsachen werden geholt …",
    one: "1 Spielzeug",
    many: "{count} Spielsachen",
    empty: "Im Regal passt nichts zu „{query}“.",
    bare: "Das Regal ist heute leer.",
    all: "Alles zeigen",
    failed: "Die Spielsachen konnten nicht geholt werden.",
    malformed: "Diese Seite versteht die Antwort des Ladens nicht.",
    silent: "Die Spielsachen sind nicht angekommen.",
    cancelled: "Die Anfrage wurde abgebrochen.",
    retry: "Noch einmal",
    setAside: "Zurücklegen",
    setAsideOf: "Zurücklegen: {name}",
    settingAside: "Moment …",
    held: "Deins bis {until}",
    gone: "Alle zurückgelegt",
    left: "noch {left}",
    since: "Seit {added}",
    refused: "Hier nicht erlaubt: {reason}",
  },
  pt: {
    title: "A prateleira",
    search: "Buscar na prateleira",
    refresh: "Atualizar",
    loading: "Buscando os brinquedos…",
    one: "1 brinquedo",
    many: "{count} brinquedos",
    empty: "Nada na prateleira combina com “{query}”.",
    bare: "A prateleira está vazia hoje.",
    all: "Mostrar tudo",
    failed: "Não foi possível buscar os brinquedos.",
    malformed: "Esta página não entende a resposta da loja.",
    silent: "Os brinquedos não chegaram.",
    cancelled: "O pedido foi interrompido.",
    retry: "Tentar de novo",
    setAside: "Reservar",
    setAsideOf: "Reservar: {name}",
    settingAside: "Um momento…",
    held: "Seu até {until}",
    gone: "Tudo reservado",
    left: "restam {left}",
    since: "Desde {added}",
    refused: "Não permitido aqui: {reason}",
  },
};

/** @typedef {keyof typeof WORDS.en} Word */
/** @typedef {(word: Word, values?: Record<string, string | number>) => string} Say */

/**
 * Speaks the language of a BCP 47 tag, or English when it is none of ours.
 * @param {string} locale
 * @returns {Say}
 */
export function sayIn(locale) {
  const language = locale.split("-")[0];
  const words = language === "de" ? WORDS.de : language === "pt" ? WORDS.pt : WORDS.en;
  return (word, values = {}) =>
    words[word].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}
