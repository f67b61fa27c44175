declare module 'pg/lib/utils.js' {
  /** How the driver writes a parameter: arrays as array literals, objects as JSON. */
  export function prepareValue(value: unknown): Buffer | string | null;
}
