/** A figure or text with what it is called. */
export type Fact = { readonly label: string; readonly value: string };
