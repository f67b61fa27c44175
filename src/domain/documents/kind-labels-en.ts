export const kindLabelsEn = {
  copy: 'COPY',
};

export type KindLabels = Readonly<Record<keyof typeof kindLabelsEn, string>>;
