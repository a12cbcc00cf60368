// Small helpers for the document. Text goes in as text nodes only, so names from files can't become
// markup.

export const byId = (id) => document.getElementById(id);

/** A new element with these properties (aria-* and data-* and role as attributes) and children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'role' || name.includes('-'))
      made.setAttribute(name, value);
    else
      made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/**
 * A swatch in a class's colour; its name stands beside it, since colour alone tells not everybody.
 */
export function swatch(colour) {
  const made = element('span', {className: 'swatch', 'aria-hidden': 'true'});
  made.style.background = colour;
  return made;
}

/**
 * Shows a sentence until it is closed or another one comes; null hides it. note: it is good news,
 * no error.
 */
export function say(sentence, note = false) {
  const box = byId('message');
  box.hidden = !sentence;
  box.classList.toggle('note', note);
  box.firstElementChild.textContent = sentence ?? '';
}
