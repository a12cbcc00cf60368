// Headrace view: one list of images, one stage, one finding at a time.
import * as api from './api.js';
import {byId, element, say} from './dom.js';
import {keysOf} from './key_table.js';
import {listenTo} from './keys.js';
import {Layers, showLayers} from './layer_panel.js';
import {ListBox} from './lists.js';
import {showOutlines} from './outline_panel.js';
import {Outlining} from './outlining.js';
import {alwaysShown, panesOf} from './panes.js';
import {Review} from './review.js';
import {findingRow, itemRow} from './rows.js';
import {SliceView} from './slice_view.js';
import {SlideView} from './slide_view.js';
import {showVerdict} from './verdict_panel.js';
import {PLANES, WINDOWS} from './volume_state.js';
import {VolumeView} from './volume_view.js';

// wanted: the number of the image that was asked for last; ready: settled once its stage stands;
// outlining: of a volume with a prediction; slices: its slices are drawn on, no planes are shown.
const state = {
  items: [],
  shown: [],
  store: null,
  wanted: null,
  item: null,
  view: null,
  ready: null,
  layers: null,
  review: null,
  outlining: null,
  slices: false,
  side: false
};
const itemList = new ListBox(byId('items'), (index) => openItem(state.shown[index]));
const findingList = new ListBox(byId('findings'), (index) => openFinding(index));

/** Runs what a click or key asks for; what goes wrong is shown as a sentence. */
const guarded = (act) => async (...values) => {
  try {
    return await act(...values);
  } catch (error) {
    say(error.message);
  }
};

const openItem = guarded(async (listed) => {
  if (!listed || listed.n === state.wanted) return;
  say(null);
  state.view?.close();
  Object.assign(
      state,
      {wanted: listed.n, view: null, item: null, review: null, outlining: null, slices: false});
  const answers = Promise.all([api.item(listed.n), api.findings(listed.n), outliningOf(listed)]);
  answers.catch(() => state.wanted = null);  // so that it can be asked for again
  const [item, findings, slices] = await answers;
  if (item.n !== state.wanted) return;  // another one was asked for meanwhile
  const layers = new Layers(item.layers);
  const review = new Review(item, findings);
  const outlining = slices && new Outlining(item, slices, OUTLINED);
  Object.assign(state, {item, layers, review, outlining});
  state.view = makeView(item, null);
  showItem();
  await showPanes();
});

/** What was drawn on an image; null where nothing can be: outlines are kept with a prediction. */
const outliningOf = async ({n, kind, prediction}) =>
    (kind === 'volume' && prediction ? api.outlines(n) : null);

// What the outlines of a volume need of the page.
const OUTLINED = {
  view: () => (state.slices ? state.view : null),
  lesion: () => state.review?.chosen,
  open: (z) => openSlice(z),
  toggle: () => toggleSlices(),
};

function makeView(item, at) {
  const place = (text, facts) => {
    byId('place').textContent = text;
    for (const [name, value] of Object.entries(facts)) byId('place').dataset[name] = value;
  };
  if (item.kind === 'slide') return new SlideView(byId('panes'), item, place, at);
  const view = state.slices ?
      new SliceView(byId('panes'), item, place, at, state.outlining.drawings) :
      new VolumeView(byId('panes'), item, place, at, keyListener);
  view.plane = byId('plane').value;
  return view;
}

/** Another view of the same image, at the same place. */
async function restage() {
  const {at, window} = state.view;
  state.view.close();
  state.view = makeView(state.item, at);
  if (window) state.view.window = window;
  byId('plane').disabled = state.slices;
  const shown = showPanes();
  showPanel();
  await shown;
}

const toggleSlices = guarded(async () => {
  if (!state.outlining) {
    return say('Outlines are kept with a prediction, and there is none of this image.', true);
  }
  say(null);
  state.slices = !state.slices;
  await restage();
});

const openSlice = guarded(async (z) => {
  if (!state.slices) await toggleSlices();
  await state.ready;
  await state.view?.goToSlice?.(z);
});

function showItem() {
  const {item, shown} = state;
  document.title = `${item.id} – Headrace view`;
  byId('title').textContent = item.title || item.id;
  history.replaceState(null, '', `#${item.n}`);
  itemList.mark(shown.findIndex(({n}) => n === item.n));
  byId('stage').classList.toggle('volume', item.kind === 'volume');
  byId('volume-tools').hidden = item.kind !== 'volume';
  byId('plane').disabled = state.slices;
  if (item.kind === 'volume') chooseWindow(item);
  byId('save-labels').hidden = !state.store || !(state.outlining || state.review.findings.length);
  showFindings();
  showLayerPanel();
}

async function showPanes() {
  byId('side').setAttribute('aria-pressed', state.side);
  // The opacities first: the first picture has them then.
  applyOpacities();
  state.ready = state.view.show(panesOf(state.item.layers, state.side));
  await state.ready;
}

function applyOpacities() {
  byId('overlay').setAttribute('aria-pressed', state.layers.all);
  state.view?.setOpacities(state.layers.opacities(alwaysShown(state.item.layers, state.side)));
}

function showLayerPanel() {
  showLayers(byId('layers'), state.layers, (name, change) => {
    state.layers.set(name, change);
    applyOpacities();
  });
}

function showFindings() {
  const {review, item} = state;
  const colours =
      new Map(item.layers.flatMap(({classes}) => classes.map(({name, colour}) => [name, colour])));
  findingList.fill(review.findings.map((finding) => findingRow(finding, colours)), review.at);
  byId('progress').textContent = review.findings.length ?
      `${review.judged} of ${review.findings.length} with a verdict` :
      item.prediction ? 'No findings.' :
                        'No prediction.';
  showPanel();
}

function showPanel() {
  const {review, view, item} = state;
  showVerdict(byId('verdict'), review.chosen, {
    judge,
    remove: guarded(removeVerdict),
    draw: drawOutline,
    drawing: item.kind === 'slide' && view?.drawing,
    canDraw: item.kind === 'slide',
    classes: review.classes,
  });
  if (state.outlining)
    state.outlining.show();
  else
    showOutlines(byId('outlines'), null);
}

const openFinding = guarded(async (index) => {
  const {review, view} = state;
  const finding = review?.choose(index);
  if (!finding) return;
  if (view?.drawing) view.cancelOutline();
  findingList.mark(review.at);
  showPanel();
  mark();
  await state.ready;
  if (view === state.view && finding === review.chosen) view.goTo(finding);
});

/** The chosen finding's box and outline on the image. */
function mark() {
  const {chosen} = state.review;
  state.view.mark(chosen?.box ?? null, state.review.outlineOf(chosen));
}

/** A change of the verdict; without a verdict yet, outline and comment wait for one. */
const judge = guarded(async (change) => {
  const {review} = state;
  const finding = review?.chosen;
  if (!finding) return;
  const saved = await review.judge(finding, change);
  if (review !== state.review) return;
  say(saved ? null : 'Kept, and saved with the verdict: accept, reject, or choose another class.',
      true);
  mark();
  // A comment alone changes no button: redrawing would take the one away that is just being
  // pressed.
  if (!('comment' in change)) showFindings();
});

async function removeVerdict() {
  const {review} = state;
  if (!review?.chosen) return;
  await review.remove(review.chosen);
  if (review !== state.review) return;
  mark();
  showFindings();
}

/** On slides a finding's outline, on CT those of slices. */
function drawOutline() {
  if (state.item?.kind === 'volume') return toggleSlices();
  if (!state.review?.chosen) return false;
  state.view.outline((rings) => judge({outline: rings}));
  showPanel();
  return true;
}

function judgeByDigit(digit) {
  const chosen = state.review?.classes[Number(digit) - 1];
  if (!chosen || chosen.name === state.review.chosen?.class) return false;
  judge({verdict: 'reclass', class: chosen.name});
  return true;
}

const saveLabels = guarded(async () => {
  const {item} = state;
  const button = byId('save-labels');
  button.disabled = true;
  try {
    const {set, pixels} = await api.saveLabels(item.n);
    const unit = item.kind === 'slide' ? 'pixels' : 'voxels';
    if (item === state.item) await showNewSet(`annotation:${set}`);
    say(`Saved as label set ${set}: ${pixels} ${unit}. It is among the layers.`, true);
  } finally {
    button.disabled = false;
  }
});

/** The image with the layers that it has now; the new one is switched on. */
async function showNewSet(name) {
  const item = await api.item(state.item.n);
  if (item.n !== state.item?.n) return;
  state.item = item;
  state.layers = new Layers(item.layers, state.layers);
  state.layers.set(name, {on: true});
  showLayerPanel();
  await restage();
}

function stepItem(by) {
  openItem(state.shown[state.shown.findIndex(({n}) => n === state.wanted) + by]);
}

const toggleSide = guarded(async () => {
  if (!state.view) return;
  state.side = !state.side;
  await showPanes();
  showPanel();
});

function toggleOverlay() {
  state.layers?.toggle();
  if (state.layers) applyOpacities();
}

function stepOpacity(direction) {
  if (!state.layers) return;
  state.layers.step(direction);
  showLayerPanel();
  applyOpacities();
}

/** A key that only an outline being drawn understands. */
const whileDrawing = (act) => () => {
  if (!state.view?.drawing || act(state.view) === false) return false;
  showPanel();
  return true;
};

/** Escape: first the line that was begun, then the slices. */
function endDrawing(view) {
  if (view.cancelOutline() === false) toggleSlices();
}

/** A key that only slices being drawn on understand. */
const onSlices = (act) => () => {
  if (!state.slices) return false;
  act();
  return true;
};

/** Arrows are a list's and a slider's own while these have the focus. */
function stepSlice(by) {
  if (document.activeElement?.matches('input, [role=listbox]')) return false;
  state.view.step(by);
  return true;
}

const keyListener = listenTo(keysOf({
  stepFinding: (by) => openFinding((state.review?.at ?? (by > 0 ? -1 : 0)) + by),
  judge,
  judgeByDigit,
  removeVerdict: guarded(removeVerdict),
  draw: drawOutline,
  stepSlice: (by) => state.slices && stepSlice(by),
  takeOver: onSlices(() => state.outlining.takeOver()),
  copy: onSlices(() => state.outlining.copy()),
  undo: onSlices(() => state.outlining.undo()),
  toggleOverlay,
  stepOpacity,
  toggleSide,
  stepItem,
  zoom: (factor) => state.view?.zoom(factor),
  fit: () => state.view?.fit(),
  help: () => byId('help').showModal(),
  close: whileDrawing((view) => view.drawing.close()),
  takeBack: whileDrawing((view) => view.drawing.undo()),
  stop: whileDrawing(endDrawing),
}));

function chooseWindow({window: {low, high}, unit = 'HU', stored_per_unit: perUnit = 1}) {
  const presets = unit === 'HU' ? Object.entries(WINDOWS) : [];
  const known = presets.some(([, [from, to]]) => from === low && to === high);
  const all = known ? presets : [['As stored', [low, high]], ...presets];
  const select = byId('window');
  select.replaceChildren(...all.map(
      ([name, [from, to]]) => element(
          'option', {value: `${from},${to}`}, `${name} (${from / perUnit} to ${to / perUnit})`)));
  select.value = `${low},${high}`;
}

function filterItems() {
  const text = byId('filter').value.trim().toLowerCase();
  state.shown = state.items.filter(
      (item) => [item.id, item.title, item.case].some(
          (value) => value?.toLowerCase().includes(text)));
  itemList.fill(state.shown.map(itemRow), state.shown.findIndex(({n}) => n === state.wanted));
}

function wire() {
  const click = (id, act) => byId(id).addEventListener('click', act);
  click('zoom-in', () => state.view?.zoom(1.5));
  click('zoom-out', () => state.view?.zoom(1 / 1.5));
  click('fit', () => state.view?.fit());
  click('side', toggleSide);
  click('overlay', toggleOverlay);
  click('save-labels', saveLabels);
  click('help-button', () => byId('help').showModal());
  byId('message').lastElementChild.addEventListener('click', () => say(null));
  byId('filter').addEventListener('input', filterItems);
  byId('plane').append(
      ...['all', ...Object.keys(PLANES)].map((name) => element('option', {value: name}, name)));
  byId('plane').addEventListener('change', guarded(async (event) => {
                                   state.view.plane = event.target.value;
                                   await showPanes();
                                 }));
  byId('window').addEventListener('change', (event) => {
    state.view.window = event.target.value.split(',').map(Number);
    state.view.restate();
  });
}

const start = guarded(async () => {
  wire();
  const {items, store} = await api.items();
  Object.assign(state, {items, store});
  filterItems();
  if (!items.length) return say('There is no image to show.');
  await openItem(items.find(({n}) => `#${n}` === location.hash) ?? items[0]);
});

start();
