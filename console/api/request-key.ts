/**
 * A name for one thing that a person does, so that a second click or a lost answer does it once. Made
 * without crypto.randomUUID, which browsers have under https and on localhost alone.
 */
export function newRequestKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
