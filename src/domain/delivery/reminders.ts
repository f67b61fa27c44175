// Reminders as documents. Each is made before its mail is sent, and kept with its bytes.
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { Log } from '../../base/log.ts';
import { majorUnits } from '../../base/money.ts';
import type { Paper } from '../documents/paper.ts';
import { readFiles } from './files-store.ts';
import { listFurther } from './further-documents-store.ts';
import { keepFurther, type RenderedFurther } from './keep-further.ts';
import type { NoticeLook } from './notice-mail.ts';
import type { ReminderFacts } from './notice-text.ts';
import type { NoticeToSend } from './notices-store.ts';
import { listBillNumbers, listPaperParties } from './papers-store.ts';
import type { Renderer } from './renderer.ts';

type Reminders = { notices: readonly NoticeToSend[]; look: NoticeLook };
type Tools = { renderer: Pick<Renderer, 'print'>; log: Log; now: Temporal.Instant };

/** The files of reminders, by notice. If one cannot be made, its mail goes out without it. */
export async function keepReminders(
  tx: Tx,
  tenantId: number,
  { notices, look }: Reminders,
  { renderer, log, now }: Tools,
): Promise<Map<number, Buffer>> {
  const ids = notices.map((notice) => notice.notice_id);
  const kept = await listFurther(tx, tenantId, 'Reminder', ids);
  const missing = notices.filter((notice) => !kept.has(notice.notice_id));
  const papers = await reminderPapers(tx, tenantId, { notices: missing, look });
  const made = papers.size === 0 ? undefined : await renderer.print([...papers.values()]);
  const rendered = [...papers.keys()].flatMap((subjectId, index): RenderedFurther[] => {
    const result = made?.results[index];
    if (result && !('error' in result)) return [{ kind: 'Reminder', subjectId, ...result }];
    log.error({ tenantId, subjectId, error: result?.error }, 'a reminder could not be made');
    return [];
  });
  await keepFurther(tx, tenantId, rendered, made?.parts ?? new Map(), now);
  const all = await listFurther(tx, tenantId, 'Reminder', ids);
  const files = await readFiles(tx, tenantId, [...all.values()]);
  return new Map(
    [...all].flatMap(([id, { document_id: documentId }]) => {
      const file = files.get(documentId);
      return file === undefined ? [] : [[id, file] as const];
    }),
  );
}

/** By notice; notices other than reminders are left out. */
export async function reminderPapers(
  tx: Tx,
  tenantId: number,
  { notices, look }: Reminders,
): Promise<Map<number, Paper>> {
  const reminders = notices.flatMap((notice) => {
    const { reminder } = notice.facts;
    return reminder ? [{ notice, reminder }] : [];
  });
  if (reminders.length === 0) return new Map();
  const partyIds = reminders.map(({ notice }) => notice.party_id ?? 0);
  const parties = await listPaperParties(tx, tenantId, [...new Set(partyIds)]);
  const billIds = reminders.flatMap(({ reminder }) => reminder.items.map((one) => one.billId ?? 0));
  const numbers = await listBillNumbers(tx, tenantId, [...new Set(billIds)]);
  return new Map(
    reminders.flatMap(({ notice, reminder }) => {
      const party = parties.get(notice.party_id ?? 0);
      if (!party) return [];
      const { connectionNumber = null, dueDate, outstandingAmount } = notice.facts;
      const paper: Paper = {
        setting: look.setting,
        party: { ...party, connectionNumber },
        reminder: {
          reminderID: notice.notice_id,
          date: wireDay(reminder.date),
          oldestDueDate: dueDate ?? '',
          amount: outstandingAmount,
          words: notice.body,
          items: itemsOf(reminder, look.setting.currencyDecimals, numbers),
          banks: look.banks.get(notice.context_id ?? 0) ?? [],
        },
      };
      return [[notice.notice_id, paper] as const];
    }),
  );
}

function itemsOf(
  { date, items }: ReminderFacts,
  decimals: number,
  numbers: ReadonlyMap<number, string | null>,
) {
  const day = Temporal.PlainDate.from(date);
  return items.map(({ billId, kind, dueDate, amount }) => ({
    kind,
    billNumber: billId === null ? null : (numbers.get(billId) ?? null),
    dueDate: wireDay(dueDate),
    daysOverdue: Temporal.PlainDate.from(dueDate).until(day, { largestUnit: 'days' }).days,
    amount: majorUnits(BigInt(amount), decimals),
  }));
}
