// Terms for tests: labels and days of their own, so that no two meet.
import type { RequestOf } from '../../sdk/client.ts';
import type { TestClient } from './client.ts';

export type TermData = RequestOf<'makeTerm'>['data'];

let made = 0;

/** Opens a term of January 2026, or of what is given, and returns its id. */
export async function newTerm(
  client: TestClient,
  data: Partial<TermData> & { serviceCode: string },
): Promise<number> {
  made += 1;
  const { headers } = await client.makeTerm({
    operation: 'schedule',
    data: { label: `T${made}`, startDate: '01/01/2026', endDate: '31/01/2026', ...data },
  });
  return Number(headers.get('x-term-id'));
}

export async function termOf(client: TestClient, termID: number) {
  const { data } = await client.getTerms({ termID });
  const [term] = data.terms;
  if (!term) throw new Error(`no term ${termID}`);
  return term;
}
