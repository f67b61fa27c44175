import type { Client } from '../../sdk/client.ts';

/**
 * Terms of tests lie in the past, and so do their due dates. A test of the rule about due dates
 * says itself whether one is accepted.
 */
export function withPastDueDates(
  client: Pick<Client, 'postBills' | 'publishBills'>,
): Pick<Client, 'postBills' | 'publishBills'> {
  const { postBills, publishBills } = client;
  const accepted = <Body extends { data: object }>(body: Body): Body => ({
    ...body,
    data: { acceptDueDate: true, ...body.data },
  });
  return {
    postBills: (body, options) => postBills(accepted(body), options),
    publishBills: (body, options) => publishBills(accepted(body), options),
  };
}
