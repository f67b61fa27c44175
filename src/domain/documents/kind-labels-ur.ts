import type { KindLabels } from './kind-labels-en.ts';

export const kindLabelsUr: KindLabels = {
  copy: 'نقل',
};
