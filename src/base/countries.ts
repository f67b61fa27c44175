import codes from 'i18n-iso-countries/codes.json' with { type: 'json' };

const alpha2ByCode = new Map<string, string>();
for (const [alpha2, alpha3] of codes) {
  if (alpha2 === undefined || alpha3 === undefined) continue;
  alpha2ByCode.set(alpha2, alpha2);
  alpha2ByCode.set(alpha3, alpha2);
}

/** The ISO 3166-1 alpha-2 code of an alpha-2 or alpha-3 code in any case; undefined if unknown. */
export function countryCode(text: string): string | undefined {
  return alpha2ByCode.get(text.toUpperCase());
}

/** Every country: its ISO 3166-1 numeric, alpha-2 and alpha-3 codes. */
export const countries: readonly { id: number; code: string; alpha3: string }[] = codes.map(
  ([code = '', alpha3 = '', numeric = '']) => ({ id: Number(numeric), code, alpha3 }),
);
