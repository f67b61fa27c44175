/** What a line's amount is: a percentage of an amount, or a quantity at a rate. */
export type LineBasis =
  | { readonly percent: string; readonly of: string }
  | { readonly quantity: string; readonly unit: string | null; readonly rate: string };
