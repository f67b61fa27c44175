// Which test proves what of each screen. The tests of all screens at once are those of `sweeps`;
// here are the names of the others. `test/console/proofs.test.ts` compares them with the tests and
// with the table of test/browser/README.md.
import { screens } from './screens.ts';

export type Proof = 'story' | 'badInput' | 'empty';

/** A text that is no name of a test says why there is nothing to prove. */
export type Proofs = Record<Proof, string>;

const month = 'an operator bills a metered month by mouse and closes it';
const term = 'an operator takes a metered term from its readings to its bills';
const money = 'a cashier takes a payment and closes the day; the bank file and the books follow';
const first = 'an operator bills a term, reads a bill and takes a payment';
const setUp = 'a manager sets up a metered service in the console alone, and bills it';
const forgotten = 'a forgotten password is set anew by a mail, once; a customer logs in by a link';
const portal = 'a customer sees the own bills on a phone, changes details and reports a problem';
const emptyList = 'an empty workspace says on every screen what to do first';
const emptyPage =
  'an empty term and a new customer say on each of their pages that nothing is there yet';
const noHand = 'a term whose service takes nothing by hand says so where values are typed';
const takenCode = 'a plan with the code of another is refused in the dialog, and made with its own';
const settled = 'a dispute that another person has settled is not settled again';
const noSuch = 'an address that names nothing says so, and offers the way on';
const service = 'a manager changes the days to pay of a service and adds a batch';
const webhook = 'an administrator makes a webhook, sees a failed message, and sends it again';
const settings =
  'an administrator changes settings, makes a login, and finds both in the audit trail';
const dispute = 'a dispute is raised on a bill, found in the collections, and upheld as a credit';
const report =
  'a report shows what its period has, and says so when the days are in the wrong order';
const group = 'an operator makes a billing group, adds accounts by name, and moves one';
const account =
  'a manager adds an account, renames it, and books a charge and payments on accounts';
const plan = 'an analyst corrects a formula, tries it, saves a version and compares';

const reader = 'a meter reader finds the open term, types its readings and prints its route sheet';

const always = 'never empty';
const noInput = 'takes no input';

function proofs(story: string, badInput: string, empty: string): Proofs {
  return { story, badInput, empty };
}

export const screenProofs: Readonly<Record<string, Proofs>> = {
  '/login': proofs(first, first, always),
  '/forgot': proofs(forgotten, forgotten, always),
  '/link': proofs(forgotten, forgotten, always),
  '/': proofs(first, first, emptyList),
  '/terms/$termID': proofs(
    month,
    'a due date that is too early is changed in the dialog, and the bills are posted',
    emptyPage,
  ),
  '/terms/$termID/readings': proofs(term, noSuch, emptyPage),
  '/terms/$termID/entry': proofs(
    'a reader types 600 readings an hour, and sees the usage before a line is saved',
    term,
    emptyPage,
  ),
  '/readings': proofs(reader, noInput, emptyList),
  '/readings/$termID': proofs(reader, reader, reader),
  '/terms/$termID/review': proofs(term, term, emptyPage),
  '/terms/$termID/population': proofs(term, noSuch, emptyPage),
  '/terms/$termID/values': proofs(
    'usage without a meter is typed and taken from a file; a wrong row is named',
    term,
    noHand,
  ),
  '/terms/$termID/generate': proofs(
    'a page stays open over a restart during generate, and nothing is done twice',
    term,
    emptyPage,
  ),
  '/terms/$termID/exceptions': proofs(term, noInput, emptyPage),
  '/terms/$termID/register': proofs(term, noInput, emptyPage),
  '/terms/$termID/send': proofs(term, noSuch, emptyPage),
  '/bills/$billID': proofs(
    'a bill shows its draft, the change against the one before, payments and credit notes',
    dispute,
    noSuch,
  ),
  '/customers': proofs(setUp, setUp, emptyList),
  '/customers/$partyNumber': proofs(first, first, emptyPage),
  '/groups': proofs(group, group, emptyList),
  '/groups/$billingGroupID': proofs(group, group, noSuch),
  '/subscriptions': proofs(setUp, setUp, emptyList),
  '/subscriptions/$connectionNumber': proofs(
    money,
    'a meter is edited, and two people choose what stays',
    emptyPage,
  ),
  '/meters/$meterNumber': proofs(
    'a meter with three registers is exchanged, and the old one is found in store',
    'a meter is edited, and two people choose what stays',
    noSuch,
  ),
  '/payments': proofs(
    first,
    'a session that ended over night keeps the page and what was typed',
    emptyList,
  ),
  '/payments/$paymentID': proofs(money, noSuch, noSuch),
  '/cash-desk': proofs(money, money, emptyList),
  '/bank': proofs(money, money, emptyList),
  '/bank/$bankFileID': proofs(money, money, noSuch),
  '/collections': proofs(dispute, settled, emptyList),
  '/ledger': proofs(money, account, emptyList),
  '/reports': proofs(report, report, emptyList),
  '/plans': proofs(setUp, takenCode, emptyList),
  '/plans/$planID': proofs(plan, plan, noSuch),
  '/files': proofs(
    'an operator maps columns, corrects a rejected row, imports and exports',
    'an operator maps columns, corrects a rejected row, imports and exports',
    always,
  ),
  '/settings': proofs(settings, settings, emptyList),
  '/settings/webhooks/$webhookID': proofs(webhook, webhook, noSuch),
  '/services': proofs(setUp, setUp, emptyList),
  '/services/$serviceCode': proofs(service, service, noSuch),
  '/portal': proofs(portal, noInput, emptyPage),
  '/portal/bills': proofs(portal, noInput, emptyPage),
  '/portal/usage': proofs(portal, noInput, emptyPage),
  '/portal/details': proofs(portal, portal, emptyPage),
};

export const reasons: readonly string[] = [always, noInput];

/** Tests that open every route of `screens`, and the pictures that people look at. */
export const sweeps = {
  role: 'no role sees or opens a screen that it may not use',
  sound: 'the demo has something to show on every screen',
};

/** The table of test/browser/README.md: a row for each screen, a number for each test. */
export function proofTable(fileOf: (name: string) => string): string {
  const used = [...new Set(Object.values(screenProofs).flatMap((one) => Object.values(one)))];
  const names = used.filter((name) => !reasons.includes(name));
  const cell = (name: string) => (reasons.includes(name) ? name : String(names.indexOf(name) + 1));
  const rows = screens.map(({ route }) => {
    const { story = '', badInput = '', empty = '' } = screenProofs[route] ?? {};
    return `| \`${route}\` | ${cell(story)} | ${cell(badInput)} | ${cell(empty)} |`;
  });
  const head = ['| Screen | Story | Bad input | Nothing there |', '|---|---|---|---|'];
  const list = names.map((name, index) => `${index + 1}. ${name} (\`${fileOf(name)}\`)`);
  return [...head, ...rows, '', ...list].join('\n');
}
