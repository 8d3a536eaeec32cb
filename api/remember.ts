/**
 * Returns a function that keeps its last value for a while. Callers that arrive while the value is made wait for it.
 * @param make never fails
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
