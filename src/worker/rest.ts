/** A pause of a loop that ends when its time is up or something wakes it. */
export type Rest = { wait(ms: number): Promise<void>; wake(): void };

export function restUntilWoken(): Rest {
  const resting = new Set<() => void>();
  let isCalled = false;
  return {
    wait(ms) {
      // If a call came while no loop was resting, the next pause is skipped.
      if (isCalled) {
        isCalled = false;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const rise = () => {
          clearTimeout(timer);
          resting.delete(rise);
          resolve();
        };
        const timer = setTimeout(rise, ms);
        resting.add(rise);
      });
    },
    wake() {
      isCalled = resting.size === 0;
      for (const rise of [...resting]) rise();
    },
  };
}
