'use strict';
// Without this everything can be read; with it a dot says its name at once, commands can be copied, columns
// sort, a filter acts when it is changed, lines are chosen by dragging along an axis, and the page of a running
// study is live.
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
  for (const form of document.querySelectorAll('form.choose')) {
    const button = form.querySelector(':scope > button');
    const show = () => { button.hidden = form.querySelectorAll('input:checked').length < 2; };
    form.addEventListener('change', show);
    show();
  }

  // Parallel coordinates: dragging along an axis keeps the lines that pass there, a click on it lets all pass again.
  const brush = (svg) => {
    const inside = svg.querySelector('g > g');
    const axes = [...inside.querySelectorAll(':scope > line')];
    const lines = [...inside.querySelectorAll('path')].map((path) => ({
      path, link: path.closest('a'), at: path.getAttribute('d').slice(1).split('L').map((p) => Number(p.split(' ')[1])),
    }));
    if (axes.length < 2 || !lines.length) return;
    const ranges = new Map();
    const said = document.createElement('p');
    said.setAttribute('role', 'status');
    said.textContent = 'Drag along an axis to choose trials.';
    svg.closest('figure').append(said);
    const choose = () => {
      const kept = lines.filter((l) => [...ranges].every(([i, [a, b]]) => l.at[i] >= a && l.at[i] <= b));
      for (const l of lines) l.path.classList.toggle('left-out', !kept.includes(l));
      said.textContent = ranges.size ? `${kept.length} of ${lines.length} trials chosen: ` : 'Drag along an axis to choose trials.';
      if (!ranges.size) return;
      kept.reverse().slice(0, 24).forEach((l, i) => { // the fastest are drawn last
        const link = document.createElement('a');
        link.href = l.link ? l.link.href.baseVal : '#';
        link.textContent = link.href.split('/').at(-1);
        link.title = l.path.parentNode.querySelector('title').textContent;
        said.append(i ? ', ' : '', link);
      });
      if (kept.length > 24) said.append(' and slower ones');
    };
    axes.forEach((axis, i) => {
      const make = (name, values) => {
        const made = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
        for (const [key, value] of Object.entries({ x: Number(axis.getAttribute('x1')) - 12, width: 24, ...values })) made.setAttribute(key, value);
        made.setAttribute('class', name);
        return made;
      };
      const high = Number(axis.getAttribute('y2'));
      const chosen = make('brushed', { y: 0, height: 0 });
      const handle = make('brush', { y: -6, height: high + 12 });
      inside.append(chosen, handle);
      const place = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(inside.getScreenCTM().inverse()).y;
      let from = null;
      handle.addEventListener('pointerdown', (event) => {
        handle.setPointerCapture(event.pointerId);
        from = place(event);
        event.preventDefault();
      });
      const move = (event) => {
        if (from === null) return;
        const range = [from, place(event)].sort((a, b) => a - b);
        if (range[1] - range[0] < 4) ranges.delete(i);
        else ranges.set(i, range);
        chosen.setAttribute('y', range[0]);
        chosen.setAttribute('height', ranges.has(i) ? range[1] - range[0] : 0);
        choose();
      };
      handle.addEventListener('pointermove', move);
      handle.addEventListener('pointerup', (event) => { move(event); from = null; });
    });
  };
  for (const svg of document.querySelectorAll('figure.wide svg')) brush(svg);

  // A number in a cell is its key, with its unit: 950 ns is less than 1.2 µs.
  const units = { ns: 1e-6, 'µs': 1e-3, ms: 1, s: 1e3 };
  const key = (row, column) => {
    const text = row.cells[column].textContent.trim();
    const found = text.match(/^(-?[0-9.]+)[× ]?(ns|µs|ms|s)?\b/);
    return found ? Number(found[1]) * (units[found[2]] || 1) : text;
  };
  const order = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === 'number' ? -1 : 1);
  for (const table of document.querySelectorAll('table.sortable, table.paged')) {
    table.classList.add('cards'); // on a narrow screen each row is one, with names for its cells
    for (const row of [...table.rows].slice(1)) {
      [...row.cells].slice(1).forEach((cell, i) => {
        cell.dataset.label = table.rows[0].cells[i + 1].textContent;
        cell.classList.toggle('unknown', ['', '~'].includes(cell.textContent.trim()) && !cell.querySelector('svg'));
      });
    }
    if (table.classList.contains('paged')) continue; // what is first is not on this page alone
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
