// The search reads its index from a server: from a file address its button on a phone would do nothing.
if (location.protocol === "file:") {
  for (const button of document.querySelectorAll("label[for=__search]")) button.style.display = "none";
}
