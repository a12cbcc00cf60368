// What Neuroglancer is told: its state as JSON, from the item, the layers and the panes. Pure
// functions.
import {volumePath} from './api.js';
import {isBase} from './panes.js';

/** Windows in HU, low and high. */
export const WINDOWS = {
  'Soft tissue': [-160, 240],
  'Lung': [-1350, 150],
  'Bone': [-450, 1050],
  'Liver': [-15, 155],
};

// Quaternions (x, y, z, w) that lay a plane of LPS voxels as radiologists look at it: axial from
// below, coronal from the front, both with the patient's left on the right; sagittal with the front
// on the left.
const HALF = Math.SQRT1_2;
export const PLANES = {
  axial: {turn: [0, 0, 0, 1], right: [0, 1], down: [1, 1]},
  coronal: {turn: [-HALF, 0, 0, HALF], right: [0, 1], down: [2, -1]},
  sagittal: {turn: [-0.5, -0.5, 0.5, 0.5], right: [1, 1], down: [2, -1]},
};

const WINDOW_SHADER = '#uicontrol invlerp window\nvoid main() { emitGrayscale(window()); }\n';

// Further channels (PET over CT) are tinted, and as strong as their value.
const TINT_SHADER = '#uicontrol invlerp window\nvoid main() {\n  float v = window();\n' +
    '  emitRGBA(vec4(1.0, 0.75 * v, 0.2 * v, v));\n}\n';

const rgb = (colour) => [1, 3, 5]
                            .map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255).toFixed(3))
                            .join(', ');

const probabilityShader = ({colour}) =>
    `void main() { emitRGBA(vec4(${rgb(colour)}, toNormalized(getDataValue()))); }\n`;

/**
 * A class map is drawn as an image whose values have colours. Neuroglancer's segmentation layers
 * would make their code from strings at run time, which this page's Content-Security-Policy
 * forbids.
 */
function labelShader(classes) {
  const one = ({value, colour}) =>
      `  if (value == ${value}u) { emitRGBA(vec4(${rgb(colour)}, 1.0)); return; }\n`;
  return `void main() {\n  uint value = uint(toRaw(getDataValue()));\n${
      classes.map(one).join('')}  emitTransparent();\n}\n`;
}

const shaderOf = (layer) =>
    layer.kind === 'probability' ? probabilityShader(layer.classes[0]) : labelShader(layer.classes);

function layerState(item, layer, opacity, chosen) {
  const common = {
    name: layer.name,
    type: 'image',
    visible: opacity > 0 || isBase(layer),
    source: `precomputed://${location.origin}${volumePath(item.n, layer)}`,
  };
  if (layer.kind !== 'image') {
    return {...common, opacity, blend: 'default', shader: shaderOf(layer)};
  }
  const {low, high} = layer.window ?? item.window;
  const window = isBase(layer) ? chosen : [low, high];
  const shaderControls = {window: {range: window, window}};
  if (isBase(layer)) return {...common, shader: WINDOW_SHADER, shaderControls};
  return {...common, opacity, blend: 'default', shader: TINT_SHADER, shaderControls};
}

/**
 * Layers as Neuroglancer wants them. opacities: Map of name -> 0 (left out of the picture) to 1;
 * window: [low, high] of the image itself, in stored values.
 */
export const layerStates = (item, opacities, window) =>
    item.layers.map((layer) => layerState(item, layer, opacities.get(layer.name) ?? 0, window));

const plane = (name, layers) => ({
  type: 'viewer',
  layers,
  layout: 'xy',
  flex: 1,
  crossSectionOrientation: {link: 'unlinked', value: PLANES[name].turn},
});

/**
 * Alone, the axial plane is the large one; in a pane among others the planes stand one below the
 * other.
 */
function planesOf(layers, chosen, alone) {
  if (chosen !== 'all') return plane(chosen, layers);
  const [axial, ...others] = Object.keys(PLANES).map((name) => plane(name, layers));
  if (!alone) return {type: 'column', flex: 1, children: [axial, ...others]};
  return {type: 'row', flex: 1, children: [axial, {type: 'column', flex: 1, children: others}]};
}

/**
 * panes: [{layers: [names]}]; chosen: a plane's name or 'all'. Side by side all panes share place
 * and zoom.
 */
export function layoutOf(panes, chosen) {
  const parts = panes.map(({layers}) => planesOf(layers, chosen, panes.length === 1));
  return parts.length === 1 ? parts[0] : {type: 'row', children: parts};
}

export function dimensionsOf(item) {
  const [z, y, x] = item.spacing_zyx_mm;
  return {x: [x / 1000, 'm'], y: [y / 1000, 'm'], z: [z / 1000, 'm']};
}

/** Neuroglancer's zoom is in voxels of the smallest spacing for each screen pixel. */
export const scaleOf = (item, mm, screenPixels) =>
    mm / Math.min(...item.spacing_zyx_mm) / screenPixels;

/** The four letters (left, right, top, bottom edge) of a plane, from the volume's affine to LPS. */
export function lettersOf(item, name) {
  const affine = item.affine_lps.flat();
  const letter = ([axis, sign]) => {
    const column = [0, 1, 2].map((row) => affine[row * 4 + axis]);
    const main = column.map(Math.abs).indexOf(Math.max(...column.map(Math.abs)));
    return ['RL', 'AP', 'IS'][main][column[main] * sign > 0 ? 1 : 0];
  };
  const against = ([axis, sign]) => [axis, -sign];
  const {right, down} = PLANES[name];
  return {
    left: letter(against(right)),
    right: letter(right),
    top: letter(against(down)),
    bottom: letter(down)
  };
}
