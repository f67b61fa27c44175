// Loaded before the test runner, which follows every promise to know the test that it belongs to,
// and has each reported when it is collected. That report takes a twentieth of the time of all
// tests. Here the runner hears of the ends of promises all together, after each file.
import asyncHooks, { type HookCallbacks } from 'node:async_hooks';

type Hooks = { createHook: typeof asyncHooks.createHook };

/** Promises that the runner remembers at most: its map holds sixteen million. */
const rememberedMax = 8_000_000;

const { createHook } = asyncHooks;
let forget = () => {};

/** The runner forgets the promises of the files before. */
export function forgetPromises(): void {
  forget();
}

(asyncHooks as Hooks).createHook = (callbacks) => {
  // Only the first, which is that of the runner.
  (asyncHooks as Hooks).createHook = createHook;
  return createHook(withoutEnds(callbacks));
};

function withoutEnds({ init, destroy, ...others }: HookCallbacks): HookCallbacks {
  if (!init || !destroy) return { ...others, ...(init && { init }), ...(destroy && { destroy }) };
  let first = 0;
  let last = 0;
  forget = () => {
    for (let id = first; id <= last; id += 1) destroy(id);
    first = last + 1;
  };
  return {
    ...others,
    init(asyncId, type, triggerAsyncId, resource) {
      last = asyncId;
      if (last - first > rememberedMax) forget();
      init(asyncId, type, triggerAsyncId, resource);
    },
  };
}
