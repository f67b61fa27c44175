// What was typed into the grid, kept while the person looks at other pages, and how it is saved.

import { useSyncExternalStore } from 'react';
import { BillingError } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { queries } from '../../api/queries/base.ts';
import { newRequestKey } from '../../api/request-key.ts';
import {
  type Code,
  codes,
  isOfRegister,
  type Question,
  questionOf,
  type Stop,
  typedOf,
} from './entry-check.ts';

export type Entry = {
  text: string;
  code: Code | null;
  phase: 'open' | 'asked' | 'saving' | 'saved' | 'unsaved' | 'refused' | 'not read';
  question: Question | null;
  /** The answer to a reading that is lower than the last. */
  isRollover: boolean;
  problem: string | null;
  /** Of what was saved, as the server judged it. */
  status: string | null;
  /** As the server measured it, where the line had to be confirmed. */
  usage: string | null;
  /** One for one value: a lost answer saves once. */
  key: string;
};

const fresh: Entry = {
  text: '',
  code: null,
  phase: 'open',
  question: null,
  isRollover: false,
  problem: null,
  status: null,
  usage: null,
  key: '',
};

export class EntryStore {
  #entries: ReadonlyMap<string, Entry> = new Map();
  readonly #listeners = new Set<() => void>();

  of(stop: Stop): Entry {
    return this.#entries.get(stop.key) ?? fresh;
  }

  get all(): ReadonlyMap<string, Entry> {
    return this.#entries;
  }

  set(stop: Stop, change: Partial<Entry>): void {
    this.#entries = new Map(this.#entries).set(stop.key, { ...this.of(stop), ...change });
    for (const listener of this.#listeners) listener();
  }

  type(stop: Stop, text: string): void {
    const key = newRequestKey();
    const { code, phase } = this.of(stop);
    // A meter that was locked yesterday is read today.
    this.set(stop, { ...fresh, code: phase === 'not read' ? null : code, text, key });
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

const stores = new Map<string, EntryStore>();

/** The store of a term and day; it outlives the page. */
export function storeOf(name: string): EntryStore {
  const store = stores.get(name) ?? new EntryStore();
  stores.set(name, store);
  return store;
}

export function useEntries(store: EntryStore): ReadonlyMap<string, Entry> {
  return useSyncExternalStore(store.subscribe, () => store.all);
}

/** Typed and not with the server yet. */
export function isUnsaved({ phase, text }: Entry): boolean {
  return text.trim() !== '' && phase !== 'saved' && phase !== 'not read';
}

/** Enter was pressed. True: the next line is next. */
export function confirm(store: EntryStore, stop: Stop, readingDate: string): boolean {
  const entry = store.of(stop);
  if (entry.phase === 'saving') return false;
  if (entry.phase === 'saved') return true;
  const typed = typedOf(entry.text, stop);
  const code = typed?.code ?? entry.code;
  if (!typed && code === null) {
    if (entry.text.trim() === '') return true;
    store.set(stop, { phase: 'refused', problem: 'readings.notAValue' });
    return false;
  }
  const value = typed?.value ?? (code === 's' ? stop.previous : null);
  if (value === null) {
    store.set(stop, { phase: 'not read', code, question: null, problem: null });
    return true;
  }
  const question = questionOf(value, stop);
  if (question !== null && entry.phase !== 'asked' && entry.phase !== 'unsaved') {
    store.set(stop, {
      phase: 'asked',
      question,
      isRollover: question === 'rollover',
      problem: null,
    });
    return false;
  }
  void save(store, stop, { value, code, readingDate });
  return true;
}

async function save(
  store: EntryStore,
  stop: Stop,
  { value, code, readingDate }: { value: string; code: Code | null; readingDate: string },
): Promise<void> {
  const { isRollover, question, key } = store.of(stop);
  store.set(stop, { phase: 'saving', problem: null });
  const reading = {
    number: stop.number,
    ...(stop.register === null ? {} : { register: stop.register }),
    value,
    readingDate,
    source: 'Console',
    ...(code === null ? {} : { remark: codes[code] }),
    ...(isRollover ? { rollover: true } : {}),
  };
  try {
    await api.makeReadings({ readings: [reading] }, { idempotencyKey: key });
    const judged = question === null ? accepted : await judgedAs(stop, readingDate);
    store.set(stop, { phase: 'saved', ...judged });
    await queries.invalidateQueries({ queryKey: ['readings'] });
  } catch (error) {
    const isRefused = error instanceof BillingError && error.statusCode < 500;
    const problem = isRefused ? problemOf(error).message : 'readings.noConnection';
    store.set(stop, { phase: isRefused ? 'refused' : 'unsaved', problem });
  }
}

const accepted = { status: 'Accepted', usage: null };

/** Only a reading that had to be confirmed can be under review, or have passed the highest value. */
async function judgedAs(stop: Stop, day: string): Promise<Pick<Entry, 'status' | 'usage'>> {
  const { readings } = (await api.getReadings({ number: stop.number, fromDate: day, toDate: day }))
    .data;
  const own = readings.findLast((one) => isOfRegister(one, stop));
  const { status = 'Accepted', consumption = null } = own ?? {};
  return { status, usage: consumption };
}
