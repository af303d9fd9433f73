import type { Synonyms } from "../../domain/Synonyms.ts"
import { normalize, stem } from "./Words.ts"

/**
 * Words and phrases that documents have where questions have another of the group: a question about switching something off is answered
 * by how to disable it. General words of manuals, guides and handbooks only; a word may be in several groups.
 */
const groups = `
disable, deactivate, turn off, switch off, opt out, suppress
enable, activate, turn on, switch on, opt in
delete, remove, erase, drop, discard, clear, purge, prune, clean, get rid
create, make, build, construct, generate, instantiate, set up
add, append, insert, attach, include
cancel, abort, interrupt, stop, terminate
shut down, terminate, close, stop, dispose, tear down, destroy
end, finish, complete, terminate, conclude
start, begin, launch, run, initiate, kick off
run, execute, invoke, call, launch
get, obtain, fetch, retrieve, access, read, acquire
send, transmit, post, submit, deliver, forward
show, display, print, render, view
hide, conceal, mask, suppress
change, modify, edit, update, alter, adjust, override, customize
replace, substitute, swap, supersede, exchange
configure, set, specify, define, customize, set up
option, setting, parameter, configuration, preference
argument, parameter, option
limit, restrict, cap, bound, maximum, constrain
maximum, limit, most, largest, longest, up to
minimum, least, smallest, at least
large, big, size, maximum
long, length, duration
often, times, frequency, every
expire, lifetime, ttl, max age, time to live
default, omitted, unspecified, not specified, unless
allow, permit, may, let, enable, authorize
forbid, prohibit, disallow, not allowed, ban, reject, must not
need, require, necessary, must, prerequisite
required, mandatory, must, necessary
optional, not required, need not
avoid, prevent, protect, stop
error, exception, failure, fault
fail, error, throw, raise, reject
throw, raise, reject
fix, solve, resolve, repair, solution, mend
wrong, incorrect, invalid, error
check, verify, validate, test, inspect, determine
detect, find, recognize, discover, determine
find, search, look up, locate
choose, select, pick
split, divide, separate, break up, partition
join, merge, combine, concatenate
convert, transform, translate, turn into
parse, read, decode
write, serialize, encode, output
save, store, persist, keep, write
load, import, read
keep, retain, preserve, store, remain
skip, ignore, exclude, omit, leave out
exclude, except, ignore, omit
copy, duplicate, clone
several, multiple, many, various
same time, at once, simultaneous, concurrent, parallel
many, multiple, number, count
all, every, each, entire, whole
only, just, solely, exclusively
part, portion, region, section, piece, subset
quick, fast, rapid, speed, performance
slow, performance, latency, delay
wait, delay, pause, sleep, block
retry, try again, attempt, repeat
repeat, again, recur, duplicate
old, legacy, previous, outdated, former, stale
new, recent, latest, modern
deprecated, obsolete, legacy, superseded, removed
difference, differ, distinguish, versus, unlike, whereas
benefit, advantage, useful, helpful
drawback, disadvantage, downside, limitation, cost, overhead
purpose, aim, goal, intend, useful, motivation
mean, stand for, denote, refer, represent
happen, occur, behaviour, behavior, result
use, employ, utilize, apply
own, custom, user defined, bring your own
support, compatible, work, handle
install, set up, add
upgrade, update, migrate
download, fetch
upload, send
connect, attach, link, join
login, log in, sign in, authenticate
credential, password, secret, key, token
safe, secure, protect
dangerous, unsafe, risk, insecure, hazard
host, server, machine
folder, directory, path
file, document
picture, image, photo
digit, number, numeric
text, string
array, list
dictionary, map, object, dict, mapping
method, function
loop, iterate, go through, for each
order, sort, sequence
reverse, backward, inverse
debug, log, trace, diagnose
monitor, observe, track, watch
notify, tell, inform, report, alert
ask, request, apply
reply, response, answer, respond
test, mock, try
deploy, publish, release, ship
pay, salary, wage, compensation, remuneration
cost, price, fee, charge, expense
reimburse, refund, expense, claim back, money back, get back
buy, purchase, order, procure
holiday, vacation, leave, time off, day off
sick, ill, illness, sickness
employee, staff, colleague, personnel
manager, boss, supervisor, lead
customer, client
phone, call, telephone
email, mail, e mail
emergency, urgent, incident
lost, stolen, missing
broken, damaged, defective, faulty
injured, hurt, wounded, accident
stuck, hang, freeze, blocked
semver, semantic versioning
cash, money
author, writer, write
propose, suggest, recommend
recommend, should, advise, prefer, best
decide, determine, choose, vote
vote, ballot, election, elect
approve, accept, agree, sign off
reject, refuse, decline, deny, turn down
responsible, in charge, duty, owner
quit, resign, leave, step down
begin, found, establish, start
die, death, killed
born, birth
kill, murder, assassinate
win, victory, defeat, beat
war, battle, conflict
movie, film
country, nation, state
city, town
population, inhabitants, people
back up, backup
set up, setup
roll back, rollback, revert, undo
time out, timeout
clean up, cleanup
start up, startup
sign up, signup, register, enrol, enroll
type, enter, key in
speed, bandwidth, throughput
above, over, exceed, more than, greater than
below, under, less than, fewer than
forget, lose
personal, private, own
command line, cli, terminal, console, shell
format, fmt
configuration, config, cfg
environment, env
directory, dir
temporary, tmp, temp
message, msg
argument, arg
parameter, param
repository, repo
database, db
administrator, admin
documentation, docs, manual
synchronize, sync
initialize, initialise, init
authentication, auth
certificate, cert
address, addr
borrow, loan, loaner, lend
laptop, computer, pc, machine, notebook, macbook, mac, workstation
therapy, therapist, counseling, counselling, mental health
doctor, physician, medical
child, baby, newborn, kid, son, daughter
parental, maternity, paternity, mother, father, parent
death, bereavement, funeral, passing, decease
dismiss, lay off, redundancy, terminate, fire
hire, recruit, onboard
remote, telework, work from home, home office, telecommute
travel, trip, journey
hotel, lodging, accommodation
plane, flight, air, airfare, airline
train, rail, railway
car, vehicle
meal, food, lunch, per diem
overwrite, clobber, replace
restore, recover, put back, bring back
wipe, erase, delete
anonymize, anonymise, mask, redact, obfuscate, pseudonymize
visitor, guest, anonymous
theme, skin, appearance, look and feel
language, locale, translation
password, passphrase
plaintext, plain text, clear text, cleartext, unencrypted
song, track, music
show, series, episode
subtitle, caption
stolen, theft, steal, rob
complaint, complain, grievance, concern
harassment, misconduct, bullying, inappropriate, bad behaviour, bad behavior
pregnant, pregnancy, maternity
marriage, wedding, marry
spouse, husband, wife, partner
paycheck, payslip, pay slip, pay stub, pay statement, payroll
bonus, reward, incentive
pay rise, pay raise, salary increase
severance, laid off, let go, layoff
retirement, pension
insurance, cover, coverage
dentist, dental, teeth
glasses, vision, optical, eye test, eyewear
gym, fitness, wellness, sport
bicycle, bike, cycle
parking, park, car park
badge, id card, access card, key card, keycard
furniture, chair, desk
dress, clothes, attire, wear, outfit
pet, dog, animal
fortnight, two weeks
yearly, annual, annually, per year, every year, a year
monthly, per month, every month, a month
weekly, per week, every week, a week
daily, per day, every day, a day
on call, pager, standby, out of hours
outage, downtime, incident, unavailable
overtime, extra hours, time in lieu, comp time
training, course, workshop, conference
reserve, reservation, book, booking
referral, refer, recommend a friend
probation, trial period
appraisal, performance review, evaluation, assessment
colleague, coworker, co worker, teammate, peer
freelancer, contractor, consultant
supplier, vendor
invoice, bill
relocate, move house, new address, change of address
confidential, sensitive, secret
breach, attack, compromise, intrusion, hack
virus, malware
vulnerability, security hole, security issue, flaw
bug, defect, issue
crash, segfault
memory, ram
disk, drive, storage, hard drive
wifi, wireless, wi fi, wlan
website, web site, site, webpage, web page
link, url, hyperlink
dialog, popup, pop up
tab, pane, panel
row, record, entry
spreadsheet, excel, sheet
presentation, slide, powerpoint
chart, graph, diagram
comment, note, remark
bookmark, favorite, favourite, starred
tag, label, category
direct message, dm, chat
video call, video conference, zoom
tls, ssl, https
compress, gzip, zip
unzip, unpack, extract, decompress
compile, build
mac, macos, os x, osx, darwin
mobile, smartphone, cell phone, cellphone
account, profile, user
unsubscribe, opt out
newsletter, mailing list
subscription, feed
resume, continue, carry on
migrate, transfer, move over
schedule, cron, timer, periodic, recurring
reboot, restart
log out, sign out, logout
permission, privilege, right, access
hidden, invisible
estimate, guess
example, sample
certain, sure
wrong, mistake
everyone, everybody, all staff, whole company
newcomer, new starter, new hire, new joiner, new employee
last day, leaving date
shut, close, archive
Urlaub, Ferien, freie Tage
krank, Krankheit, Krankmeldung
Gehalt, Lohn, Vergütung
Chef, Vorgesetzter, Vorgesetzte, Führungskraft
kündigen, Kündigung
Computer, Rechner, PC, Laptop
Foto, Bild, Abbildung, Grafik
Ordner, Verzeichnis
anmelden, einloggen, Anmeldung, Login
abmelden, ausloggen, Abmeldung
Passwort, Kennwort
Seite, Webseite, Website
Benutzer, Nutzer, Anwender
Konto, Account, Benutzerkonto
erstellen, anlegen, hinzufügen, erzeugen
ändern, bearbeiten, anpassen
einstellen, konfigurieren, festlegen, einrichten
anzeigen, darstellen
verstecken, ausblenden, verbergen
kopieren, duplizieren
speichern, sichern
hochladen, Upload
herunterladen, Download
veröffentlichen, publizieren, freigeben
Fassung, Version
Kosten, Preis, Gebühr
Fehler, Störung
Voreinstellung, Standard, Standardwert, Vorgabe
maximal, höchstens, Obergrenze
mindestens, Mindestlänge, Untergrenze
Favorit, Favoriten, Lesezeichen
Bedeutung, bedeutet, heißt
supprimer, effacer, enlever
créer, ajouter
modifier, changer
dossier, répertoire
courriel, mail, email
prévenir, avertir, annoncer, informer
afficher, montrer
désactiver, éteindre
bug, erreur, anomalie
réglage, paramètre, configuration, option
abschalten, deaktivieren, ausschalten
einschalten, aktivieren
löschen, entfernen
beginnen, anfangen, starten
bezahlen, zahlen, vergüten
kaufen, erwerben
`

/** What else of the same groups there is for a word or phrase. */
interface Others {
  /** Stems of single words. */
  readonly words: Array<string>
  /** Phrases, each a list of stems that stand side by side. */
  readonly phrases: Array<ReadonlyArray<string>>
}

const stems = (text: string): ReadonlyArray<string> => normalize(text).trim().split(/[\s-]+/).map(stem)

/** A thesaurus of groups whose members stand for each other. Keys are stems, those of a phrase joined by spaces. */
export class Thesaurus {
  readonly #others = new Map<string, Others>()
  readonly #phrases: Array<readonly [ReadonlyArray<string>, string]> = []

  constructor(groups: ReadonlyArray<ReadonlyArray<string>>) {
    for (const group of groups) this.#add(group.map(stems))
  }

  #add(members: ReadonlyArray<ReadonlyArray<string>>): void {
    for (const member of members) {
      const key = member.join(" ")
      const known = this.#others.get(key) ?? { words: [], phrases: [] }
      for (const other of members) {
        if (other === member) continue
        if (other.length === 1) known.words.push(other[0]!)
        else known.phrases.push(other)
      }
      this.#others.set(key, known)
      if (member.length > 1) this.#phrases.push([member, key])
    }
  }

  /** What stands for a key. */
  othersOf(key: string): Others | undefined {
    return this.#others.get(key)
  }

  /**
   * The phrase of several stems that starts at an index of `words`, with its places there; "turn it off" is "turn off" where the words of
   * a phrase `mayPart`.
   */
  phraseAt(words: ReadonlyArray<string>, at: number, mayPart: boolean): PhraseAt | undefined {
    for (const [phrase, key] of this.#phrases) {
      const places = placesOf(phrase, words, at)
      if (places !== undefined && (mayPart || places.at(-1)! - at === phrase.length - 1)) return { key, places }
    }
    return undefined
  }
}

export interface PhraseAt {
  readonly key: string
  readonly places: ReadonlyArray<number>
}

/** The thesaurus that every question is read with. */
export const general = new Thesaurus(groups.trim().split("\n").map((line) => line.split(",")))

const made = new WeakMap<Synonyms, Thesaurus>()

/** The thesaurus of a pipeline's own synonyms, made once. */
export const thesaurusOf = (synonyms: Synonyms): Thesaurus => {
  let known = made.get(synonyms)
  if (known === undefined) made.set(synonyms, known = new Thesaurus(synonyms))
  return known
}

/** The indexes of a phrase's stems in `words`: the first is `at`, and each is at most two after the one before. Undefined where absent. */
export const placesOf = (phrase: ReadonlyArray<string>, words: ReadonlyArray<string>, at: number): ReadonlyArray<number> | undefined => {
  if (words[at] !== phrase[0]) return undefined
  const places = [at]
  for (const part of phrase.slice(1)) {
    const last = places.at(-1)!
    const next = words[last + 1] === part ? last + 1 : words[last + 2] === part ? last + 2 : undefined
    if (next === undefined) return undefined
    places.push(next)
  }
  return places
}
