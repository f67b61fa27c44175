// Two people changed one plan: what each of them changed, and one plan from both.
import type { Side } from '../../parts/merge-choice.tsx';
import { contentOf, type PlanDraft } from './plan-draft.ts';

/** A field or an item of the plan that at least one of them changed. */
export type MergePart = {
  key: string;
  base: unknown;
  mine: unknown;
  theirs: unknown;
  /** Both changed it, and not to the same. */
  isConflict: boolean;
};

const lists = { valueFormulas: 'name', componentRules: 'component', usageData: 'input' } as const;
type ListName = keyof typeof lists;
const listNames = Object.keys(lists) as ListName[];

/** The form's items by the name that they keep, such as `componentRules gst 1`. */
function itemsOf(draft: PlanDraft): Map<string, { list: ListName; item: unknown; sent: unknown }> {
  const items = new Map<string, { list: ListName; item: unknown; sent: unknown }>();
  const content = contentOf(draft);
  for (const list of listNames) {
    const seen = new Map<string, number>();
    for (const [index, item] of draft[list].entries()) {
      const name = String((item as Record<string, unknown>)[lists[list]] ?? '');
      const count = (seen.get(name) ?? 0) + 1;
      seen.set(name, count);
      const sent = content[list]?.[index];
      items.set(`${list} ${name}${count > 1 ? ` ${count}` : ''}`, { list, item, sent });
    }
  }
  return items;
}

type Head = Omit<PlanDraft, ListName>;
const headNames = [
  'name',
  'uniqueLabel',
  'description',
  'parentTariffCode',
  'visibility',
  'archived',
] as const satisfies (keyof Head)[];

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

export function partsOf(base: PlanDraft, mine: PlanDraft, theirs: PlanDraft): MergePart[] {
  const [baseItems, myItems, theirItems] = [itemsOf(base), itemsOf(mine), itemsOf(theirs)];
  const keys = new Set([...baseItems.keys(), ...theirItems.keys(), ...myItems.keys()]);
  const all = [
    ...headNames.map((key) => ({ key, base: base[key], mine: mine[key], theirs: theirs[key] })),
    ...[...keys].map((key) => ({
      key,
      base: baseItems.get(key)?.sent,
      mine: myItems.get(key)?.sent,
      theirs: theirItems.get(key)?.sent,
    })),
  ];
  return all
    .filter((part) => !(isSame(part.base, part.mine) && isSame(part.base, part.theirs)))
    .map((part) => ({
      ...part,
      isConflict:
        !isSame(part.mine, part.theirs) &&
        !isSame(part.base, part.mine) &&
        !isSame(part.base, part.theirs),
    }));
}

/** Where only one of them changed something, that change; what I typed, where both did. */
export function usualSide(part: MergePart): Side {
  return isSame(part.base, part.mine) ? 'theirs' : 'mine';
}

/** The plan of the other person with my parts in it. */
export function merged(
  mine: PlanDraft,
  theirs: PlanDraft,
  sides: ReadonlyMap<string, Side>,
): PlanDraft {
  const [myItems, theirItems] = [itemsOf(mine), itemsOf(theirs)];
  const isMine = (key: string) => sides.get(key) === 'mine';
  const result = { ...theirs, valueFormulas: [], componentRules: [], usageData: [] } as PlanDraft;
  for (const key of headNames) if (isMine(key)) Object.assign(result, { [key]: mine[key] });
  for (const key of new Set([...theirItems.keys(), ...myItems.keys()])) {
    const from = sides.has(key) && isMine(key) ? myItems : theirItems;
    const kept = from.get(key);
    if (kept) (result[kept.list] as unknown[]).push(kept.item);
  }
  return result;
}
