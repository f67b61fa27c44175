/** An amount in equal parts that add up to it exactly; what is left over is in the last one. */
export function equalParts(amount: number, count: number, decimals: number): number[] {
  const unit = 10 ** decimals;
  const whole = Math.round(amount * unit);
  const part = Math.floor(whole / count);
  return Array.from(
    { length: count },
    (_, index) => (index === count - 1 ? whole - part * (count - 1) : part) / unit,
  );
}
