// The keys of the page and what the help says of them. What each does is given by name; a function
// that gives false leaves the key to the browser.

const DIGITS = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
const ZOOM = 1.5;

/** A key for one step forth and one for one back. */
const steps = (forth, back, help, step) =>
    ({keys: [forth, back], help, act: (key) => step(key === forth ? 1 : -1)});

export const keysOf = (acts) =>
    [{keys: ['j'], help: 'next finding', act: () => acts.stepFinding(1)},
     {keys: ['k'], help: 'finding before', act: () => acts.stepFinding(-1)},
     {keys: ['a'], help: 'accept the finding', act: () => acts.judge({verdict: 'accept'})},
     {keys: ['r'], help: 'reject the finding', act: () => acts.judge({verdict: 'reject'})},
     {
       keys: DIGITS,
       label: ['1', '…', '9'],
       help: 'it is of another class, in the order of the buttons',
       act: acts.judgeByDigit
     },
     {keys: ['x'], help: 'remove the verdict', act: acts.removeVerdict},
     {
       keys: ['d'],
       help: 'draw: an outline of the finding (slides), outlines on slices (CT)',
       act: acts.draw
     },
     {
       ...steps('ArrowUp', 'ArrowDown', 'slice above, below, while drawing on CT', acts.stepSlice),
       label: ['↑', '↓']
     },
     {keys: ['t'], help: 'take over the lesion on this slice (CT)', act: acts.takeOver},
     {keys: ['c'], help: 'copy the outlines of the nearest slice (CT)', act: acts.copy},
     {keys: ['u'], help: 'undo the last change of outlines (CT)', act: acts.undo},
     {keys: ['o'], help: 'overlay on or off', act: acts.toggleOverlay},
     steps(']', '[', 'overlay stronger, weaker', acts.stepOpacity),
     {keys: ['s'], help: 'side by side: image, prediction, annotation', act: acts.toggleSide},
     steps('n', 'p', 'next image, image before', acts.stepItem),
     {
       keys: ['+', '=', '-'],
       label: ['+', '-'],
       help: 'zoom in, out',
       act: (key) => acts.zoom(key === '-' ? 1 / ZOOM : ZOOM)
     },
     {keys: ['0'], help: 'whole image', act: acts.fit},
     {keys: ['?'], help: 'this help', act: acts.help},
     {keys: ['Enter'], act: acts.close},
     {keys: ['Backspace'], act: acts.takeBack},
     {keys: ['Escape'], act: acts.stop},
];
