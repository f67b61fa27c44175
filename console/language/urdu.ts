// Loaded when a person chooses Urdu.
export const urdu = import.meta.glob<Record<string, unknown>>('./ur/*.json', {
  eager: true,
  import: 'default',
});
