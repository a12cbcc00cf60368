// Pictures of an axial slice from its voxels: windows, colours of classes, areas of outlines. Pure
// functions.
import {isBase} from './panes.js';

// A pixel of ImageData as one number; browsers run on little-endian machines only.
const rgba = (red, green, blue, alpha) => ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
const coloured = (colour, alpha) =>
    rgba(...[1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)), alpha);

/** The pixel of each value of a layer of bytes. */
function tableOf({kind, classes}) {
  const table = new Uint32Array(256);
  if (kind === 'probability') return table.map((_, value) => coloured(classes[0].colour, value));
  for (const {value, colour} of classes) table[value] = coloured(colour, 255);
  return table;
}

function pixelOf(layer, [low, high]) {
  if (layer.kind !== 'image') {
    const table = tableOf(layer);
    return (value) => table[value];
  }
  const part = (value) => Math.round(255 * Math.max(0, Math.min(1, (value - low) / (high - low))));
  const grey = (strength) => rgba(strength, strength, strength, 255);
  // Further channels (PET over CT) are tinted, and as strong as their value.
  const tint = (strength) => rgba(255, 0.75 * strength, 0.2 * strength, strength);
  return isBase(layer) ? (value) => grey(part(value)) : (value) => tint(part(value));
}

/** voxels: one slice of the layer, row by row. window: [low, high] in stored values. */
export function pictureOf(layer, voxels, width, window) {
  const image = new ImageData(width, voxels.length / width);
  const pixels = new Uint32Array(image.data.buffer);
  const pixel = pixelOf(layer, window);
  voxels.forEach((value, index) => pixels[index] = pixel(value));
  return image;
}

/** Where a row's centres cross the edges of rings, from left to right. */
function crossings(rings, y) {
  const found = [];
  for (const ring of rings) {
    ring.forEach((from, index) => {
      const to = ring[(index + 1) % ring.length];
      const [[y0, x0], [y1, x1]] = from[0] <= to[0] ? [from, to] : [to, from];
      if (y0 <= y && y < y1) found.push(x0 + ((y - y0) * (x1 - x0)) / (y1 - y0));
    });
  }
  return found.sort((a, b) => a - b);
}

/**
 * Calls each(index) for the voxels whose centre is inside the rings by the even-odd rule, as they
 * are saved: the centre of voxel (0, 0) is (0.5, 0.5), left and upper edges belong to the area.
 */
export function eachInside(rings, width, height, each) {
  const rows = rings.flat().map(([y]) => y);
  const first = Math.max(0, Math.floor(Math.min(...rows)));
  const last = Math.min(height - 1, Math.ceil(Math.max(...rows)));
  for (let y = first; y <= last; ++y) {
    const xs = crossings(rings, y + 0.5);
    for (let i = 0; i + 1 < xs.length; i += 2) {
      const end = Math.min(width, Math.ceil(xs[i + 1] - 0.5));
      for (let x = Math.max(0, Math.ceil(xs[i] - 0.5)); x < end; ++x) each(y * width + x);
    }
  }
}

/** What outlines mark, later ones over earlier ones: [{rings, colour (null: it erases)}]. */
export function areasOf(outlines, width, height) {
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (const {rings, colour} of outlines) {
    const pixel = colour ? coloured(colour, 255) : 0;
    eachInside(rings, width, height, (index) => pixels[index] = pixel);
  }
  return image;
}
