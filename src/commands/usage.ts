// The usage of each command, apart from the commands: to print it, no command has to be loaded.

/** The command line was not understood: its message is printed, and the exit code is 2. */
export class UsageError extends Error {}

/** Refuses extra arguments: ignoring them would let the user believe that they had an effect. */
export function refuseMore(given: readonly string[], taken: number, usage: string): void {
  const [more] = given.slice(taken);
  if (more !== undefined) throw new UsageError(`'${more}' is one argument too many.\n\n${usage}`);
}

export const startUsage = `billwright start [--demo]
      API, worker and, unless DATABASE_URL is set, PostgreSQL, all in one;
      --demo also makes the workspace demo on the database of DATABASE_URL`;

export const citusUsage = `billwright citus settle
      on a cluster of several machines, after a shard was moved: what plans are made by`;

export const workspaceUsage = `billwright workspace create NAME --admin EMAIL --password PASSWORD
      [--name "Shown Name"] [--timezone Asia/Karachi] [--currency PKR] [--country PK]
      [--locale en-PK] [--sandbox]
      without them: UTC, USD, US, en, and no sandbox
  billwright workspace list
  billwright workspace suspend NAME
  billwright workspace resume NAME
  billwright workspace export NAME FILE
      writes one workspace to a file
  billwright workspace import FILE [--name NEW] [--without-second-factors]
      takes it in beside the others, suspended, and checks its books
  billwright workspace delete NAME FILE [--days 30]
      suspends it, writes its last export, and deletes it after so many days
  billwright workspace restore NAME
      undoes that until then`;

/** Enough to look around in, and made within a second. */
export const demoSubscriptions = 540;

export const demoUsage =
  `billwright demo [--workspace NAME] ` +
  `[--subscriptions ${demoSubscriptions}]
      makes a workspace with sample data: electricity, water, a housing society
  billwright demo run
      takes the workspace demo through a whole bill run, on a new term`;

export const verifyUsage = 'billwright verify [--workspace NAME]';

export const importUsage = `billwright import
      parties|meters|subscriptions|readings|customers|openitems FILE
      --workspace NAME [--dry-run] [--again] [--encoding windows-1252] [--errors FILE]`;

export const importBankFileUsage = `billwright import-bank-file FILE
      --workspace NAME --account ID --format CSV|CAMT|MT940 [--mapping NAME] [--dry-run]
      [--encoding windows-1252]`;

export const ledgerUsage = `billwright ledger trial-balance --workspace NAME
      [--from DD/MM/YYYY] [--until DD/MM/YYYY] [--account CODE]
      shows what was debited and credited on each ledger account, by posting date
  billwright ledger export-month --workspace NAME --month MM/YYYY [--format CSV|IIF] [--to FILE]
      writes the journals of a closed month, the same bytes each time`;

export const exportUsage = `billwright export
      parties|meters|subscriptions|readings|bills|journals|audit|
      aging|collection|revenue|taxsummary|consumption|unreadmeters|billregister
      --workspace NAME [--from DD/MM/YYYY] [--until DD/MM/YYYY] [--to FILE]
      writes a CSV file; the days are for readings, bills, journals, reports and the audit trail
  billwright export statement --workspace NAME
      --party NUMBER [--account LABEL] | --connection NUMBER
      [--from DD/MM/YYYY] [--until DD/MM/YYYY] [--to FILE]
      writes the statement of account of a party, a billing account or a subscription
  billwright route-sheet --workspace NAME --service CODE [--batch CODE]
      [--since DD/MM/YYYY] [--date DD/MM/YYYY] [--to FILE]
      lists the registers that are still to be read, of one batch or all`;

export const billUsage = `billwright bill preview --workspace NAME [--service CODE] [--bill ID] FILE
      writes the newest bill, or a sample if there is none, as PDF with the present letterhead,
      template and bank accounts`;

export const listenUsage = `billwright listen --workspace NAME
      --user NAME | --client ID [--password TEXT] [--url http://NAME.localhost:8080]
      [--forward http://localhost:4000/hooks] [--secret whsec_…] [--types bill.posted,…]
      [--since EVENT]
      prints events as they come, and forwards them signed; BILLWRIGHT_PASSWORD may have the
      password of the login or the secret of the client`;

export const backupUsage = `billwright backup FILE
      writes a backup of the whole database, also while a server runs
  billwright restore FILE [--suspend]
      restores it into an empty data folder or database, and checks the books;
      with --suspend no workspace works until it is resumed`;
