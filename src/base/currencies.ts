// ISO 4217: which currencies exist and how many decimals their minor unit has.
// The platform's own table (CLDR) rounds some to whole units in everyday use, as for PKR; a ledger
// needs the standard's figure, so the currencies that do not have two decimals are listed here.

const decimalsByCurrency = new Map<string, number>([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'
    .split(' ')
    .map((code) => [code, 0] as const),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3] as const),
  ['CLF', 4],
  ['UYW', 4],
]);

const known: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

export function isCurrency(code: string): boolean {
  return known.has(code);
}

export function currencyDecimals(code: string): number {
  return decimalsByCurrency.get(code) ?? 2;
}
