// What an address asks for and the workspace does not have.
import i18next from 'i18next';

export class Missing extends Error {
  constructor() {
    super(i18next.t('missing'));
  }
}
