'use strict';
// Without this everything can be read; with it a dot says its name at once, commands can be copied, columns
// sort, a filter acts when it is changed, and the page of a running study is live.
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

  for (const button of document.querySelectorAll('button.copy')) {
    button.hidden = !navigator.clipboard;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = 'Copied';
    });
  }
  for (const form of document.querySelectorAll('form.filter')) {
    form.addEventListener('change', () => form.submit());
    form.querySelector('button').hidden = true;
  }
  // A number in a cell is its key, with its unit: 950 ns is less than 1.2 µs.
  const units = { ns: 1e-6, 'µs': 1e-3, ms: 1, s: 1e3 };
  const key = (row, column) => {
    const text = row.cells[column].textContent.trim();
    const found = text.match(/^(-?[0-9.]+)[× ]?(ns|µs|ms|s)?\b/);
    return found ? Number(found[1]) * (units[found[2]] || 1) : text;
  };
  const order = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === 'number' ? -1 : 1);
  for (const table of document.querySelectorAll('table.sortable')) {
    table.classList.add('cards'); // on a narrow screen each row is one, with names for its cells
    for (const row of [...table.rows].slice(1)) {
      [...row.cells].slice(1).forEach((cell, i) => { cell.dataset.label = table.rows[0].cells[i + 1].textContent; });
    }
    [...table.rows[0].cells].forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'sort';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        const down = head.ariaSort === 'ascending';
        for (const other of table.rows[0].cells) other.ariaSort = null;
        head.ariaSort = down ? 'descending' : 'ascending';
        const rows = [...table.rows].slice(1).filter((row) => row.cells.length > column);
        rows.sort((a, b) => (down ? -1 : 1) * order(key(a, column), key(b, column)));
        for (const row of rows) row.parentNode.append(row);
      });
    });
  }

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
