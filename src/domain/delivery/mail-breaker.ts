// Keeps a mail server that is down from holding up a run: after some failures in a row mails are
// put off without trying, but for one now and then.

export type MailBreaker = {
  /** Whether to hand over a mail now. While the server counts as down, one mail is let through. */
  mayTry(): boolean;
  /** Whether nothing will be handed over for a while: there is no need to make a mail. */
  isResting(): boolean;
  /** Whether the server accepted mails not long ago: it may only limit their rate. */
  isAlive(): boolean;
  note(hasFailed: boolean): void;
};

const failuresMax = 20;
const pauseMs = 30_000;
const aliveMs = 3_600_000;

export function createMailBreaker(clockMs: () => number = () => performance.now()): MailBreaker {
  let failures = 0;
  let nextTryMs = 0;
  let takenAtMs = Number.NEGATIVE_INFINITY;
  return {
    mayTry() {
      if (failures < failuresMax) return true;
      if (clockMs() < nextTryMs) return false;
      nextTryMs = clockMs() + pauseMs;
      return true;
    },
    isResting: () => failures >= failuresMax && clockMs() < nextTryMs,
    isAlive: () => clockMs() - takenAtMs < aliveMs,
    note(hasFailed) {
      failures = hasFailed ? failures + 1 : 0;
      if (!hasFailed) takenAtMs = clockMs();
      if (failures === failuresMax) nextTryMs = clockMs() + pauseMs;
    },
  };
}

/** For mails that go to no server: none holds them up, and they tell nothing of one. */
export const withoutBreaker: MailBreaker = {
  mayTry: () => true,
  isResting: () => false,
  isAlive: () => true,
  note() {},
};
