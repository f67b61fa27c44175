// Loaded before the program: its clock then begins at another instant, and goes on from there.
// Plain JavaScript, because npm runs it too, on whatever Node the machine has.
const shift = Number(process.env.BILLWRIGHT_TEST_SHIFT_MS ?? '0');

if (globalThis.Temporal && shift !== 0) {
  const { Now } = globalThis.Temporal;
  const real = Now.instant.bind(Now);
  Now.instant = () => real().add({ milliseconds: shift });
}
