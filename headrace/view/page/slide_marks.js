/* global OpenSeadragon */
// Boxes and outlines over a slide, in level-0 pixels. Their lines keep their width at every zoom.

const SVG = 'http://www.w3.org/2000/svg';

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const points = (ring) => ring.map(([y, x]) => `${x},${y}`).join(' ');

/** Dark below and bright above, so that a line is seen on every stain. */
const twice = (tag, attributes, name) =>
    [shape(tag, {...attributes, class: `${name} under`}), shape(tag, {...attributes, class: name})];

export class SlideMarks {
  #viewer;
  #width;
  #group = shape('g', {});

  /** width: of the slide in level-0 pixels. */
  constructor(viewer, width) {
    this.#viewer = viewer;
    this.#width = width;
    const svg = shape('svg', {class: 'marks', 'aria-hidden': 'true'});
    svg.append(this.#group);
    viewer.canvas.append(svg);
    for (const event of ['update-viewport', 'open', 'resize'])
      viewer.addHandler(event, () => this.place());
  }

  /**
   * box: [y0, x0, y1, x1] or null; rings: closed outlines of [y, x]; open: the line being drawn.
   */
  show({box = null, rings = [], open = []}) {
    const made = [];
    if (box) {
      const [y0, x0, y1, x1] = box;
      made.push(...twice('rect', {x: x0, y: y0, width: x1 - x0, height: y1 - y0}, 'box'));
    }
    for (const ring of rings) made.push(...twice('polygon', {points: points(ring)}, 'outline'));
    if (open.length) {
      made.push(...twice('polyline', {points: points(open)}, 'outline open'));
      // A line of no length with round ends is a dot of the line's width.
      for (const [y, x] of open) made.push(shape('path', {d: `M${x} ${y}h0`, class: 'corner'}));
    }
    this.#group.replaceChildren(...made);
    this.place();
  }

  place() {
    const {viewport} = this.#viewer;
    // The slide's width is 1 in the viewport, and its pixels are square there.
    const first = viewport.pixelFromPoint(new OpenSeadragon.Point(0, 0), true);
    const scale =
        (viewport.pixelFromPoint(new OpenSeadragon.Point(1, 0), true).x - first.x) / this.#width;
    this.#group.setAttribute('transform', `matrix(${scale} 0 0 ${scale} ${first.x} ${first.y})`);
  }
}
