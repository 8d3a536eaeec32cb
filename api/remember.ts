/**
 * Returns a function that calls `make`, and returns the same value for some time before it calls `make` again. Calls that arrive during a computation
 * wait for the result of that computation.
 * @param forMs time in milliseconds for which a value is reused
 * @param make function that computes the value; must not fail
 */
export function remember<T>(forMs: number, make: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | null = null;
  let until = Infinity;
  return () => {
    if (value === null || performance.now() >= until) {
      until = Infinity;
      value = make().finally(() => {
        until = performance.now() + forMs;
      });
    }
    return value;
  };
}
