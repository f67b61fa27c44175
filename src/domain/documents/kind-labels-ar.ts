import type { KindLabels } from './kind-labels-en.ts';

export const kindLabelsAr: KindLabels = {
  copy: 'نسخة',
};
