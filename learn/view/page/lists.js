// A list box of the keyboard: arrows move, Home and End jump, Enter or a click chooses.
import {element} from './dom.js';

export class ListBox {
  #host;
  #choose;
  #rows = [];
  #at = -1;

  /** choose(index) is called with an index into the rows of the last fill(). */
  constructor(host, choose) {
    this.#host = host;
    this.#choose = choose;
    host.addEventListener('keydown', (event) => this.#key(event));
  }

  /** rows: arrays of nodes; chosen: the index of the one that is shown, or -1. */
  fill(rows, chosen) {
    this.#rows = rows.map((nodes, index) => {
      const row = element('li', {role: 'option', id: `${this.#host.id}-${index}`}, ...nodes);
      row.addEventListener('click', () => this.#choose(index));
      return row;
    });
    this.#host.replaceChildren(...this.#rows);
    this.mark(chosen);
  }

  mark(chosen) {
    this.#rows.forEach((row, index) => row.setAttribute('aria-selected', index === chosen));
    this.#move(chosen);
  }

  #move(index) {
    this.#rows[this.#at]?.classList.remove('active');
    this.#at = index;
    const row = this.#rows[index];
    if (!row) return this.#host.removeAttribute('aria-activedescendant');
    row.classList.add('active');
    row.scrollIntoView({block: 'nearest'});
    this.#host.setAttribute('aria-activedescendant', row.id);
  }

  #key(event) {
    const last = this.#rows.length - 1;
    const target = {ArrowDown: this.#at + 1, ArrowUp: this.#at - 1, Home: 0, End: last}[event.key];
    if (target !== undefined)
      this.#move(Math.max(0, Math.min(last, target)));
    else if (event.key === 'Enter' && this.#at >= 0)
      this.#choose(this.#at);
    else
      return;
    event.preventDefault();
    event.stopPropagation();
  }
}
