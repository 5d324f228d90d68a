// Data of the explorer by name: from the server as JSON, in an export as scripts, which work from a file address, too.
"use strict";
const wardround = (() => {
  const isExport = document.documentElement.dataset.mode === "export";
  const csrf = (document.querySelector("meta[name=csrf]") || {}).content;
  const loaded = new Map(), waiting = new Map();

  function load(name, { fresh = false } = {}) {
    if (fresh || !loaded.has(name)) {
      const promise = isExport ? byScript(name) : byFetch(`data/${name}.json`);
      loaded.set(name, promise);
      promise.catch(() => loaded.delete(name));
      if (loaded.size > 400) loaded.delete(loaded.keys().next().value);
    }
    return loaded.get(name);
  }
  async function byFetch(address, options) {
    const answer = await fetch(address, options);
    const body = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(body.detail || `${address}: ${answer.status}`);
    return body;
  }
  function byScript(name) {
    return new Promise((resolve, reject) => {
      waiting.set(name, resolve);
      const script = document.createElement("script");
      script.src = `data/${name}.js`;
      script.onerror = () => reject(new Error(`data/${name}.js is not there; copy the whole folder of the export`));
      script.onload = () => script.remove();
      document.head.append(script);
    });
  }
  function receive(name, value) { // called by the scripts of an export
    if (waiting.has(name)) waiting.get(name)(value);
    waiting.delete(name);
  }
  const send = (address, body) => byFetch(address, { method: "POST", headers: { "x-csrf-token": csrf }, body });
  const imageAddress = image => isExport ? `images/${image}` : `images/${encodeURIComponent(image)}`;
  const thumbnailAddress = image => `thumbnails/${isExport ? image : encodeURIComponent(image)}`;

  return { isExport, load, receive, send, get: byFetch, imageAddress, thumbnailAddress };
})();
