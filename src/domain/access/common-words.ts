/** What passwords are most often made of, the longest first, so that a word is taken as a whole. */
export const commonWords: readonly string[] = `
password passwort passwd passw0rd pass word secret letmein welcome willkommen bienvenue changeme
change default login logon admin administrator root superuser user username guest test testing
tester temp temporary demo sample example company billing billwright invoice account customer
utility energy office service server system database postgres master manager support
qwerty azerty qwertz asdf zxcv abc iloveyou loveyou lovely love forever princess prince queen king
sunshine summer winter spring autumn monday tuesday wednesday thursday friday saturday sunday
january february march april june july august september october november december
monkey dragon tiger lion eagle wolf horse dog puppy kitty kitten football baseball basketball
hockey soccer cricket liverpool chelsea arsenal barcelona realmadrid madrid manchester yankees
cowboys lakers superman batman spiderman pokemon pikachu naruto starwars minecraft fortnite
michael jessica jennifer jordan ashley daniel andrew joshua thomas robert charlie william george
matthew anthony nicole michelle amanda samantha maria muhammad mohammad ahmed ali hassan hussain
shadow ninja hunter ranger killer trustno whatever hello helloworld freedom internet computer
google facebook youtube twitter linkedin amazon apple microsoft windows android samsung
chocolate cookie cheese banana orange purple yellow silver golden diamond flower butterfly rainbow
angel angels jesus christ god allah bismillah blessed heaven family mother father brother sister
mylove babygirl baby money dollar lucky success winner peace karachi lahore islamabad pakistan india
delhi mumbai london newyork america england germany france canada mexico
please open sesame opensesame access private security secure safe keys house home work
correcthorsebatterystaple
`
  .trim()
  .split(/\s+/)
  .map((word) => word.replaceAll('0', 'o'))
  .sort((a, b) => b.length - a.length);
