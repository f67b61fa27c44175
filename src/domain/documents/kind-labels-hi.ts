import type { KindLabels } from './kind-labels-en.ts';

export const kindLabelsHi: KindLabels = {
  copy: 'प्रतिलिपि',
};
