// The migration of the notes on bills, on a database that is in use.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migratedInSteps } from './support/migrated-in-steps.ts';

const { client, upTo, enter } = await migratedInSteps();

const ownText = `
  insert into template_versions
    select tenant_id, template_id, 2, name, language, subject, 'Our own words', now(), 'x'
    from template_versions where tenant_id = 2 and template_id = 1;
  update templates set version = 2 where tenant_id = 2 and template_id = 1;
`;

test('the text that workspaces began with is replaced, and words of their own are not', async () => {
  await upTo(19);
  await client.query(ownText);
  await upTo(20);
  const bodies = async () => {
    const found = [];
    for (const tenantId of [1, 2]) {
      await enter(tenantId);
      const { rows } = await client.query(
        `select v.version, v.body
         from templates t join template_versions v using (tenant_id, template_id, version)
         where tenant_id = $1 and template_id = 1`,
        [tenantId],
      );
      found.push(rows[0]);
    }
    return found;
  };
  const [begun, own] = await bodies();
  assert.equal(begun.version, 2);
  assert.match(begun.body, /^Please quote the reference/);
  assert.deepEqual(own, { version: 2, body: 'Our own words' });
  // A bill does not know what was paid between its making and its issue.
  await upTo(28);
  const [later, still] = await bodies();
  assert.equal(later.version, 3);
  assert.match(later.body, /^Please quote .*\nPayments that came in after this bill was drawn up /);
  assert.deepEqual(still, own);
});
