// Choosing "edit" opens the fields; changing a field chooses "edit".
"use strict";
(() => {
  const edit = document.getElementById("edit");
  if (!edit) return;
  const choose = document.querySelector('input[name="verdict"][value="edit"]');
  document.querySelectorAll('input[name="verdict"]').forEach(input => input.addEventListener("change", () => {
    if (choose.checked) edit.open = true;
  }));
  edit.addEventListener("input", () => { choose.checked = true; });
})();
