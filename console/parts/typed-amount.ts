/** An amount as the API takes it: without grouping. Undefined if it is not one of the currency. */
export function typedAmount(text: string, decimals: number): number | undefined {
  const [match, fraction = ''] = /^[+-]?\d+(?:\.(\d+))?$/.exec(text.trim()) ?? [];
  if (match === undefined || fraction.replace(/0+$/, '').length > decimals) return undefined;
  return Number(match);
}
