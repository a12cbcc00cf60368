// Lines over an image, as SVG in its pixels. Their width on the screen stays the same at every
// zoom.

const SVG = 'http://www.w3.org/2000/svg';

export function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export const points = (ring) => ring.map(([y, x]) => `${x},${y}`).join(' ');

/** Dark below and bright above, so that a line is seen on every stain and every grey. */
export const twice = (tag, attributes, name) =>
    [shape(tag, {...attributes, class: `${name} under`}), shape(tag, {...attributes, class: name})];

/** The line that is being drawn, [y, x], with a dot at each corner. */
export function openLine(ring) {
  if (!ring.length) return [];
  // A line of no length with round ends is a dot of the line's width.
  const dots = ring.map(([y, x]) => shape('path', {d: `M${x} ${y}h0`, class: 'corner'}));
  return [...twice('polyline', {points: points(ring)}, 'outline open'), ...dots];
}

/** An svg over a pane and the group in it whose unit is the image's pixel. */
export function marksOver(host) {
  const svg = shape('svg', {class: 'marks', 'aria-hidden': 'true'});
  const group = shape('g', {});
  svg.append(group);
  host.append(svg);
  return group;
}
