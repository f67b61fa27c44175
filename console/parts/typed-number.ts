/**
 * A number as the API takes it; null for an empty field. Another text is sent as it was typed: the
 * server then refuses it and names the field.
 */
export function typedNumber(text: string): number | string | null {
  const typed = text.trim();
  if (typed === '') return null;
  return Number.isNaN(Number(typed)) ? typed : Number(typed);
}
