// Headrace view: one list of images, one stage, one finding at a time.
import * as api from './api.js';
import {byId, element, say} from './dom.js';
import {listenTo} from './keys.js';
import {Layers, showLayers} from './layer_panel.js';
import {ListBox} from './lists.js';
import {alwaysShown, panesOf} from './panes.js';
import {Review} from './review.js';
import {findingRow, itemRow} from './rows.js';
import {SlideView} from './slide_view.js';
import {showVerdict} from './verdict_panel.js';
import {PLANES, WINDOWS} from './volume_state.js';
import {VolumeView} from './volume_view.js';

// wanted: the number of the image that was asked for last; ready: settled once its stage stands.
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
  Object.assign(state, {wanted: listed.n, view: null, item: null, review: null});
  const answers = Promise.all([api.item(listed.n), api.findings(listed.n)]);
  answers.catch(() => state.wanted = null);  // so that it can be asked for again
  const [item, findings] = await answers;
  if (item.n !== state.wanted) return;  // another one was asked for meanwhile
  const layers = new Layers(item.layers);
  const review = new Review(item, findings);
  Object.assign(state, {item, layers, review, view: makeView(item)});
  showItem();
  await showPanes();
});

function makeView(item) {
  const place = (text, facts) => {
    byId('place').textContent = text;
    for (const [name, value] of Object.entries(facts)) byId('place').dataset[name] = value;
  };
  if (item.kind === 'slide') return new SlideView(byId('panes'), item, place);
  const view = new VolumeView(byId('panes'), item, place, keyListener);
  view.plane = byId('plane').value;
  return view;
}

function showItem() {
  const {item, shown} = state;
  document.title = `${item.id} – Headrace view`;
  byId('title').textContent = item.title || item.id;
  history.replaceState(null, '', `#${item.n}`);
  itemList.mark(shown.findIndex(({n}) => n === item.n));
  byId('stage').classList.toggle('volume', item.kind === 'volume');
  byId('volume-tools').hidden = item.kind !== 'volume';
  if (item.kind === 'volume') chooseWindow(item);
  byId('save-labels').hidden = !state.store || !state.review.findings.length;
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
    drawing: view?.drawing,
    canDraw: item.kind === 'slide',
    classes: review.classes,
  });
}

const openFinding = guarded(async (index) => {
  const {review, view} = state;
  const finding = review?.choose(index);
  if (!finding) return;
  if (view.drawing) view.cancelOutline();
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

function drawOutline() {
  if (state.item?.kind !== 'slide' || !state.review.chosen) return false;
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
  const {set, pixels} = await api.saveLabels(state.item.n);
  const unit = state.item.kind === 'slide' ? 'pixels' : 'voxels';
  say(`Saved as label set ${set}: ${pixels} ${unit}.`, true);
});

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
  if (!state.view?.drawing) return false;
  act(state.view);
  showPanel();
  return true;
};

const DIGITS = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
const keyListener = listenTo([
  {keys: ['j'], help: 'next finding', act: () => openFinding((state.review?.at ?? -1) + 1)},
  {keys: ['k'], help: 'finding before', act: () => openFinding((state.review?.at ?? 0) - 1)},
  {keys: ['a'], help: 'accept the finding', act: () => judge({verdict: 'accept'})},
  {keys: ['r'], help: 'reject the finding', act: () => judge({verdict: 'reject'})},
  {
    keys: DIGITS,
    label: ['1', '…', '9'],
    help: 'it is of another class, in the order of the buttons',
    act: judgeByDigit
  },
  {keys: ['x'], help: 'remove the verdict', act: guarded(removeVerdict)},
  {keys: ['d'], help: 'draw a corrected outline (slides)', act: drawOutline},
  {keys: ['o'], help: 'overlay on or off', act: toggleOverlay},
  {
    keys: ['[', ']'],
    help: 'overlay weaker, stronger',
    act: (key) => stepOpacity(key === ']' ? 1 : -1)
  },
  {keys: ['s'], help: 'side by side: image, prediction, annotation', act: toggleSide},
  {
    keys: ['n', 'p'],
    help: 'next image, image before',
    act: (key) => stepItem(key === 'n' ? 1 : -1)
  },
  {
    keys: ['+', '=', '-'],
    label: ['+', '-'],
    help: 'zoom in, out',
    act: (key) => state.view?.zoom(key === '-' ? 1 / 1.5 : 1.5)
  },
  {keys: ['0'], help: 'whole image', act: () => state.view?.fit()},
  {keys: ['?'], help: 'this help', act: () => byId('help').showModal()},
  {keys: ['Enter'], act: whileDrawing((view) => view.drawing.close())},
  {keys: ['Backspace'], act: whileDrawing((view) => view.drawing.undo())},
  {keys: ['Escape'], act: whileDrawing((view) => view.cancelOutline())},
]);

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
