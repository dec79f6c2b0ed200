// Copy buttons. Without this script the text is selected as a whole by one click, so the button
// stays hidden until it can do something.

for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!(button instanceof HTMLButtonElement) || !navigator.clipboard) continue;
  const source = document.getElementById(button.dataset.copy ?? "");
  if (!source) continue;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent ?? "");
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy";
      getSelection()?.selectAllChildren(source);
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
