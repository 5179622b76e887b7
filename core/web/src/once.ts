// SPDX-License-Identifier: BSD-3-Clause
// Computes a result once and shares it among several callers.

interface Work<Type> {
  readonly promise: Promise<Type>;
  readonly stop: AbortController;
  waiting: number;
  isOver: boolean;
}

/**
 * A result that is computed on first request and cached. A caller that cancels does not affect others that wait; once
 * all have cancelled, the work is aborted. After a failure, the next request computes the result again.
 */
export class Once<Type> {
  private work: Work<Type> | null = null;

  constructor(private readonly make: (signal?: AbortSignal) => Promise<Type>) {}

  async get(signal?: AbortSignal): Promise<Type> {
    signal?.throwIfAborted();
    const work = (this.work ??= this.begin());
    ++work.waiting;
    return new Promise<Type>((resolve, reject) => {
      const abort = (): void => {
        reject(signal!.reason as Error);
        if (--work.waiting === 0 && !work.isOver) {
          this.forget(work);
          work.stop.abort(signal!.reason);
        }
      };
      signal?.addEventListener("abort", abort, { once: true });
      const done = (): void => signal?.removeEventListener("abort", abort);
      work.promise.finally(done).then(resolve, reject);
    });
  }

  private begin(): Work<Type> {
    const stop = new AbortController();
    const promise = this.make(stop.signal);
    const work: Work<Type> = { promise, stop, waiting: 0, isOver: false };
    promise.then(
      () => (work.isOver = true),
      () => {
        work.isOver = true;
        this.forget(work);
      },
    );
    return work;
  }

  private forget(work: Work<Type>): void {
    if (this.work === work) {
      this.work = null;
    }
  }
}

/** Returns the result for a key, computing it if necessary. */
export function onceOf<Type>(
  all: Map<number, Once<Type>>,
  key: number,
  make: (signal?: AbortSignal) => Promise<Type>,
): Once<Type> {
  let once = all.get(key);
  if (once === undefined) {
    once = new Once(make);
    all.set(key, once);
  }
  return once;
}
