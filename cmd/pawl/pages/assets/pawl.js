'use strict';
// Without this everything can be read; with it a dot says its name at once, and the page of
// a running study is live.
(() => {
  const about = (target) => {
    const shape = target.closest && target.closest('figure svg a, figure svg g > g');
    const title = shape && shape.querySelector(':scope > title');
    return title ? [shape.closest('figure'), title.textContent] : null;
  };
  const say = (event) => {
    const found = about(event.target);
    if (!found) return;
    let line = found[0].querySelector('.readout');
    if (!line) {
      line = document.createElement('p');
      line.className = 'readout';
      found[0].append(line);
    }
    line.textContent = found[1];
  };
  document.addEventListener('pointerover', say);
  document.addEventListener('focusin', say);

  const live = document.getElementById('live');
  if (!live || !live.dataset.events) return;
  const source = new EventSource(live.dataset.events);
  source.addEventListener('update', (event) => { live.innerHTML = event.data; });
  source.addEventListener('ended', () => { source.close(); location.reload(); });
  source.addEventListener('problem', (event) => {
    source.close();
    const line = document.createElement('p');
    line.className = 'note';
    line.textContent = event.data;
    live.prepend(line);
  });
  addEventListener('pagehide', () => source.close());
})();
