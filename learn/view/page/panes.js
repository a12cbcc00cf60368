// Which layers stand in which pane.

/** The picture itself; without it (its file is gone) the other layers are shown alone. */
export const isBase = ({name}) => name === 'image';

const isAnnotation = ({name}) => name === 'annotation' || name.startsWith('annotation:');

/**
 * One pane with everything, or side by side: the image alone, with the prediction, with the
 * annotation. [{title, layers}], the image first.
 */
export function panesOf(layers, sideBySide) {
  if (!sideBySide) return [{title: null, layers}];
  const base = layers.filter(isBase);
  const annotated = layers.filter(isAnnotation);
  const others = layers.filter((layer) => !isBase(layer) && !isAnnotation(layer));
  const panes = [
    {title: base[0]?.title, layers: base},
    {title: 'Prediction', layers: others},
    {title: 'Annotation', layers: annotated},
  ];
  return panes.filter((pane) => pane.layers.length)
      .map(({title, layers: own}) => ({title, layers: own === base ? base : [...base, ...own]}));
}

/** Names of layers that side by side are in the picture even where their switch is off. */
export const alwaysShown = (layers, sideBySide) =>
    sideBySide ? ['prediction', layers.find(isAnnotation)?.name] : [];
