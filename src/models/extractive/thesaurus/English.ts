/** Groups of English words and phrases that stand for each other, one a line, as `Synonyms.ts` reads them. */

/** Manuals, guides and handbooks. */
const general = `
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
`

/** Employment. */
const work = `
boss, line manager, reporting manager, superior
supervisor, line manager, team lead
subordinate, direct report
coworker, workmate, fellow employee
worker, employee, staff member, team member
staff, workforce, personnel
headcount, number of employees
job title, designation, position title
job ad, vacancy, job posting
open position, vacancy, job opening
apply, submit application, application
applicant, candidate
cv, resume, curriculum vitae
cover letter, application letter
job interview, interview
job offer, offer letter
contract, employment agreement, employment contract
start date, first day, commencement date
joining date, date of hire, start date
induction, onboarding, orientation
trainee, apprentice, intern
student job, working student
temp, temporary worker, agency worker
part time, reduced hours
fixed term, temporary contract, limited contract
self employed, freelance, independent contractor
working hours, working time, business hours
work hours, hours of work
office hours, opening hours, business hours
flexible hours, flextime, flexitime, flexible working
core hours, core working hours
home office, remote work, teleworking
work from home, wfh, remote working, telecommuting
work abroad, work from abroad, work overseas
shift, rota, roster
swap shifts, shift change, exchange shifts
night work, night shift
lunch break, meal break
clock in, punch in
clock out, punch out
timesheet, time sheet, time record, time tracking
log hours, record time, time recording
late, tardy, tardiness, lateness
absenteeism, no show, unexcused absence
sick day, sick leave, sickness absence
sick note, medical certificate, doctor note
doctor certificate, medical certificate, fit note
sick pay, sickness benefit, statutory sick pay
day off, leave day, annual leave
vacation, annual leave, paid leave, pto
holiday, annual leave
pto, paid time off
holiday entitlement, vacation days, leave entitlement
leave balance, remaining leave, accrued leave
roll over, carry over, carry forward
public holiday, bank holiday, statutory holiday
unpaid leave, leave without pay, unpaid absence
sabbatical, career break, extended leave
maternity leave, parental leave, birth leave
paternity leave, parental leave
adoption leave, adoptive
bereavement, compassionate leave
funeral leave, bereavement leave, compassionate leave
jury duty, jury service, court duty
caregiving, care leave, carer
study leave, educational leave
emergency leave, family emergency
request time off, leave request, apply for leave
salary, base pay, annual pay
payday, pay date, salary payment
get paid, salary payment, payroll
raise, salary increase, pay increase
raise, pay review, salary review, compensation review
pay band, salary range, pay grade
pay gap, pay equity
net pay, take home, take home pay
deduction, withholding
minimum wage, living wage
hourly rate, hourly pay, per hour
stock options, equity, share options
employee shares, stock plan, share scheme
signing bonus, sign on bonus
referral bonus, finder fee
allowance, stipend
stipend, subsidy, contribution
perk, benefit, fringe benefit
health insurance, medical cover, health coverage
retirement plan, pension scheme, 401k
pension fund, pension scheme, retirement fund
pension contribution, employer contribution, employer match
childcare, nursery, daycare, kindergarten
nursing mother, breastfeeding, lactation
company car, fleet vehicle, fleet car
public transport, commuter, transit
travel pass, commuter ticket, season ticket
commute, travel to work
discount, employee discount, staff discount
meal voucher, lunch voucher, food allowance
canteen, cafeteria, staff restaurant
snack, refreshment
mental health, psychological, emotional wellbeing
wellbeing, wellness, well being
expense claim, expense report
claim expenses, submit expenses, reimbursement
out of pocket, own money, personally paid
pay back, reimburse, repay
per diem, daily allowance, subsistence
mileage, kilometre allowance, per mile
rental car, hire car, car rental
taxi, cab, uber
business trip, business travel, work trip
fly, flight, air travel
travel agency, booking tool, travel agent
hotel, overnight stay
client dinner, business meal, hospitality
gift, present
gift, hospitality, gratuity
bribe, bribery, corruption, kickback
conflict of interest, competing interest
side job, secondary employment, outside employment
second job, outside employment, moonlighting
whistleblower, speak up, report misconduct
whistleblowing, speak up, raise concern
retaliation, reprisal, victimisation
harass, bully, intimidate
discrimination, unequal treatment, bias
racism, racial discrimination
sexual harassment, unwanted advances
diversity, inclusion
code of conduct, rules of conduct, behaviour policy
dress code, appearance, attire
alcohol, drinking, drunk
drunk, intoxicated, under the influence
drugs, illegal substances, controlled substances
smoking, tobacco, cigarette
smoke, vape
weapon, firearm, gun
theft, stealing, misappropriation
fraud, deception, dishonesty
warning, written warning, disciplinary
punishment, disciplinary action, sanction
punish, discipline, sanction
gross misconduct, serious misconduct
get fired, dismissal, termination
sack, dismiss
notice period, period of notice, resignation notice
hand in notice, resign
quit, give notice, resignation
leave company, resignation, offboarding
leaver, departing employee, offboarding
exit interview, leaving interview
employment certificate, proof of employment, employment verification
redundant, laid off
redundancy pay, severance pay
retirement age, pensionable age
non compete, restrictive covenant
nda, non disclosure, confidentiality agreement
confidentiality, secrecy, non disclosure
performance review, annual review, appraisal
annual review, yearly review
goal, objective, target
okr, objectives
kpi, metric, indicator
promotion, career advancement, advancement
career path, career ladder, career development
underperform, poor performance, low performance
performance improvement plan, pip
demote, downgrade
switch teams, internal transfer
training budget, learning budget, education allowance
tuition, course fees, education assistance
mandatory training, compulsory training, required training
seminar, workshop
offsite, retreat
christmas party, holiday party, end of year
anniversary, years of service, seniority
seniority, length of service, tenure
all hands, town hall, company meeting
meeting notes, minutes
meeting room, conference room
book a room, reserve room, room booking
hot desk, desk sharing, shared desk
workplace, office, premises
headquarters, head office, main office
front desk, reception
reception, receptionist
mailroom, post room
office supplies, stationery
printer, copier
keycard, key fob
lost badge, replacement badge
visitor pass, guest badge
after hours, outside business hours
security guard, security staff
fire drill, evacuation, evacuation drill
work injury, workplace accident, occupational accident
workers compensation, accident insurance
ergonomic, workstation, posture
headset, headphones
equipment, hardware, work tools
return laptop, return equipment
company phone, work phone, business phone
private phone, personal device, byod
own device, byod, personal device
private use, personal use
work visa, work permit, residence permit
move, relocate, relocation
relocation, moving costs, removal
marital status, civil status
name change, change of name
tax class, tax code, withholding status
union, labor organization, trade union
collective agreement, tariff agreement
strike, industrial action
hr, human resources, people team
hr department, people operations
people ops, human resources
it support, helpdesk, service desk
help desk, service desk
finance team, accounting, accounts payable
accountant, accounting, bookkeeping
legal team, legal department, counsel
ceo, chief executive, managing director
cfo, finance director
cto, technical director
head of department, department head
org chart, organisation chart, reporting structure
report to, reporting line
deputy, substitute, stand in
out of office, away message, absence note
handover, hand off, hand over
hand over, transfer responsibilities
decision maker, approver
approver, authoriser
signatory, authorised to sign
sign off, approval, authorisation
permission, approval, consent
policy, guideline, rule
handbook, employee handbook, staff manual
journalist, media inquiry, press inquiry
give talk, speak at
volunteer, volunteer day
politics, political activity
reasonable adjustment, accommodation
rehire, reemploy
background check, criminal record
personnel file, employee record, hr file
personal data, employee data
surveillance, cctv
cctv, security camera, video surveillance
salary advance, pay advance
wage garnishment, garnish
corporate card, company card
purchase request, requisition
spending limit, approval limit
business card, visiting card
corporate design, brand guidelines
motto, slogan
weekend work, sunday work
overloaded, overworked, workload
conflict, dispute, disagreement
mediation, mediator, conciliation
complain, file complaint, raise grievance
gossip, rumour, rumor
swear, profanity, offensive language
honest, integrity
lgbt, sexual orientation
pronoun, gender identity
burned out, burnout, exhaustion
side hustle, secondary employment, outside employment
sick child, child illness
standing desk, adjustable desk
phone bill, telephone costs
internet bill, internet costs, internet allowance
salary cut, pay reduction
unused leave, outstanding leave, remaining leave
cash out vacation, leave payout, vacation payout
leave early, early departure
running late, late arrival
skip work, unauthorised absence
get promoted, promotion, career advancement
reimbursed, claimable, refundable
tutoring, coaching, mentoring
minutes, meeting record
`

/** Programs as their users see them. */
const software = `
app, application
app, program, software
program, application, software
login, sign in, signin
log on, log in, sign in
log off, log out, sign out
register, create account, sign up
registration, sign up, signup
username, user name, login name, user id
nickname, display name, alias
password, passcode, pin
forgot password, reset password, password reset, recover password
change password, update password, new password
two factor, 2fa, two step verification
2fa, mfa, multi factor authentication, two factor authentication
two step, two factor
verification code, one time code, security code
authenticator, verification app, totp
one time password, otp, security code
single sign on, sso
fingerprint, touch id, biometric
face recognition, face id, facial recognition
security question, secret question
backup code, recovery code
delete account, close account, remove account
deactivate account, suspend account, disable account
banned, suspended, blocked
unblock, unban, reinstate
switch account, change account, another account
profile picture, avatar, profile photo
avatar, profile image
photo, picture, image, snapshot
photograph, photo, take picture
screenshot, screen capture, screen shot, screengrab
screen recording, record screen, screen capture
crop, trim, cut
flip, mirror
resize, scale, change size
shrink, reduce size, make smaller
enlarge, zoom in, magnify
magnify, zoom
blurry, out of focus, unsharp
sharpen, sharpness, crisp
red eye, retouch
touch up, retouch, edit photo
retouch, spot removal
photo album, album, gallery
gallery, photo library
slideshow, slide show, presentation
background image, wallpaper, desktop background
lock screen, lockscreen
dark mode, night mode, dark theme
light mode, light theme
colour, color
black and white, grayscale, monochrome
grey, gray, grayscale
grayed out, dimmed, inactive
font, typeface, lettering
text size, font size
italic, slanted, emphasis
underline, underscore
strikethrough, cross out, strike out
paragraph, text block
bullet, bullet point, list item
bullet list, unordered list
numbered list, ordered list
margin, page border
page break, new page
line break, new line, newline
line spacing, line height
footnote, endnote
table of contents, toc, contents
template, boilerplate
track changes, revision mode, suggesting mode
version history, revision history, previous versions
old version, previous version, earlier version
comment, annotation, note
annotate, mark up, comment
spell check, spelling, spellcheck
typo, misspelling, spelling mistake
autocorrect, auto correct, automatic correction
autocomplete, auto complete, suggestion
autofill, auto fill, fill automatically
word count, number of words
find and replace, search and replace
copy paste, clipboard
copy and paste, clipboard
paste, insert
redo, undo again
drag and drop, drag
drag, move, pull
right click, context menu, secondary click
context menu, shortcut menu
keyboard shortcut, hotkey, key combination
shortcut, key binding, keyboard shortcut
hotkey, shortcut
press, hit, push
tap, touch, press
swipe, slide, flick
pinch, zoom
long press, touch and hold, press and hold
click, select, press
tick, check, select
checkbox, check box, tick box
untick, uncheck, deselect, clear
unselect, deselect
toggle, switch
dropdown, drop down, pull down menu
gear icon, settings, cog
toolbar, ribbon, menu bar
sidebar, side panel, navigation pane
full screen, fullscreen, maximize
split screen, side by side, split view
second monitor, external display, dual monitor
multiple monitors, multi monitor, dual display
private browsing, incognito, private window
incognito mode, private mode
browser, web browser, chrome, firefox
cache, temporary files
clear cache, empty cache, delete cache
home page, homepage, start page
default browser, preferred browser
default app, default program
add on, addon, extension, plugin
plugin, plug in, add in
widget, gadget
attach file, attachment
attachment, enclosed file
rename, change name
rename, new name
file name, filename
file type, file format, file extension
subfolder, subdirectory
trash, recycle bin, bin, deleted items
trash, wastebasket, bin
empty trash, delete permanently
delete permanently, permanent deletion
undelete, restore, recover deleted
accidentally deleted, recover, restore deleted
archive, compressed file, zip file
cloud, online storage, remote storage
cloud storage, online storage
free space, available storage, disk space
out of space, storage full, disk full
quota, storage limit
free up space, reclaim space
sync, synchronise
not syncing, sync problem, sync error
offline, without internet, without connection
share file, shared link
share link, public link, shareable link
shared folder, team folder
unshare, stop sharing, remove access
collaborate, work together, co edit
co author, collaborator
edit together, collaborate, simultaneous editing
read only, view only, viewer
write access, edit permission, edit access
who can see, visibility, visible
invite, add member
kick out, remove, expel
leave group, exit group
text message, sms
send message, write message
unsend, recall, delete message
emoji, emoticon, smiley
gif, animated image
group chat, group conversation
voice message, voice note, audio message
voicemail, answering machine, voice mail
online status, presence, availability
do not disturb, dnd, focus mode
mute, silence, turn off sound
unmute, turn on sound
silent, quiet, muted
notification, alert, push message
push notification, alert
turn off notifications, disable notifications, mute notifications
reminder, alarm, alert
snooze, remind later, postpone
email address, mail address
mailbox, inbox
outbox, outgoing mail
sent items, sent mail
junk, spam, unsolicited
junk mail, spam, bulk mail
spam folder, junk folder
phishing, scam, fraudulent email
suspicious email, phishing
recipient, addressee, receiver
cc, carbon copy
bcc, blind copy, blind carbon copy
signature, email signature
auto reply, automatic reply, vacation responder
out of office, automatic reply, auto responder
autoresponder, automatic reply
mailing list, distribution list
distribution list, contact group
contact, address book
address book, contact list
recurring event, repeating event, series
all day, whole day
time zone, timezone
invite to meeting, meeting request
attend, participate, join
attendee, participant, invitee
reschedule, move meeting, change time
cancel meeting, delete event
accept invitation, rsvp
task, to do, todo
todo list, task list, to do list
checklist, task list
assign, delegate
mark as done, complete task
video meeting, video conference, video call
conference call, group call, telephone conference
mic, microphone
webcam, camera, video camera
turn off camera, stop video
headphones, earphones, earbuds
volume, loudness, sound level
louder, increase volume, turn up
quieter, decrease volume, turn down
no sound, no audio, cannot hear
share screen, screen sharing, present screen
remote control, remote access, remote desktop
whiteboard, drawing board
breakout room, subgroup
raise hand, hand raise
transcript, captions
captions, closed captions, subtitles
dictate, dictation, speech to text, voice typing
read aloud, text to speech, screen reader
screen reader, voiceover, narrator
blind, visually impaired
deaf, hearing impaired, hard of hearing
print, printout, hard copy
printout, hard copy, paper copy
print both sides, duplex, double sided
two sided, duplex, double sided
one sided, simplex, single sided
colour printing, print in color
printer not found, add printer
paper jam, jammed paper
ink, cartridge, toner
print queue, print job
scan, digitize, digitise
ocr, text recognition, character recognition
export to pdf, save as pdf
pdf, portable document format
import, bring in, upload
convert file, change format
save automatically, autosave, auto save
unsaved, not saved
crash, quit unexpectedly, stop working
crash, hang, freeze, unresponsive
freeze, not responding, unresponsive
force quit, force close, end task
close app, quit, exit
quit, exit, close
lag, laggy, stutter
does not work, problem, troubleshooting
trouble, difficulty, problem
troubleshoot, diagnose, solve problems
glitch, bug, malfunction
reinstall, install again
uninstall, remove
uninstall, remove program, remove app
automatic updates, auto update
latest version, newest version, current version
free version, basic plan, free plan
premium, paid plan, pro version
license key, product key, serial number, activation code
license, licence
renew subscription, renewal
cancel subscription, end subscription, unsubscribe
auto renew, automatic renewal
in app purchase, add on purchase
app store, play store, marketplace
system requirements, minimum requirements, hardware requirements
operating system, os
compatible, works with, supported
reset, restore defaults, revert
factory settings, default settings, factory reset
language settings, display language, interface language
change language, switch language
keyboard layout, input language
on screen keyboard, virtual keyboard
caps lock, capital letters
uppercase, capital letter, upper case
lowercase, small letter, lower case
save password, remember password
stay signed in, remember me, keep logged in
show password, reveal password
logged in devices, active sessions
download failed, cannot download
play, playback
playback, play back, reproduce
fast forward, skip ahead
shuffle, random order, random
stream, broadcast
live stream, live broadcast, broadcasting
burn, write disc
cd, disc, dvd
video quality, resolution, hd
resolution, pixels, dimensions
frame rate, fps, frames per second
aspect ratio, proportions
thumbnail, preview image
location, gps, position
location services, gps
directions, route, navigation
search bar, search box, search field
organize, organise, manage
transparent, opacity, see through
paintbrush, brush
draw, sketch, paint
colour picker, eyedropper
formula, calculation, equation
calculate, compute
freeze panes, lock rows
merge cells, combine cells
graph, chart, plot
duplicates, double entries
survey, questionnaire, poll
poll, vote, survey
fill in, fill out, complete
fill out, complete form, enter details
text field, input field, text box
placeholder, dummy text
tutorial, guide, walkthrough
how to, guide, instructions
contact support, customer support, get help
faq, frequently asked questions
report bug, submit issue, bug report
feature request, suggestion
whats new, release notes, changelog
tooltip, hint
home screen, start screen
landing page, start page
unfollow, unsubscribe
ad, advertisement, advert
ads, advertising, commercials
pop up, popup window
encrypt, scramble
end to end, e2e
privacy settings, privacy options
delete history, clear history
qr code, barcode
scan qr, qr code
link device, pair, connect device
unlink, disconnect, detach
new phone, change phone, transfer device
transfer data, migrate data, move data
locked out, lockout, account locked, blocked account
not receiving, does not arrive, missing emails
cannot open, fails to open
spying, tracking, surveillance
change email, update email address
sort, arrange
wrong password, incorrect password, invalid credentials
hacked, compromised, unauthorised access
got hacked, account compromised
slow internet, connection speed
black screen, blank screen
`

/** Servers, networks, storage and program code. */
const administration = `
virtual machine, vm, guest
cluster, nodes
host name, hostname, server name
domain name, fqdn
dns, name resolution, name server
nameserver, dns server
ip address, ip
static ip, fixed address
dynamic ip, dhcp
listen on, bind to, bind address
network card, nic, network interface
firewall, packet filter
firewall rule, security group
open port, allow traffic, expose port
expose, publish port
load balancing, distribute traffic
subnet, network range, cidr
ping, reachable, connectivity
unreachable, not reachable, cannot connect
connection refused, cannot connect
keep alive, keepalive, heartbeat
heartbeat, health check, liveness
health check, healthcheck, probe
rate limit, throttle
too many requests, rate limit, 429
not found, 404
forbidden, 403, permission denied
unauthorized, 401, not authenticated
access denied, permission denied, forbidden
internal server error, 500
bad gateway, 502
bandwidth, network speed
packet loss, dropped packets
latency, response time, round trip
slow query, query performance
profile, performance analysis
benchmark, performance test, load test
optimise, optimize, improve performance
optimize, tune, speed up
speed up, accelerate, faster
scale out, horizontal scaling, add nodes
scale up, vertical scaling
autoscale, auto scaling, automatic scaling
high availability, ha, redundancy
failover, switchover, takeover
cluster failover, leader election
replica, slave, secondary
standby, replica, secondary
replication, mirroring, copies
shard, partition
quorum, majority
split brain, network partition
disaster recovery, dr, business continuity
backup, snapshot, dump
snapshot, point in time
database dump, export database, backup
restore, import dump, recovery
retention period, retention time
unmount, detach, umount
file system, filesystem, fs
disk space, free space, disk usage
disk full, no space left, out of disk
swap, paging, virtual memory
out of memory, oom, memory exhausted
memory leak, leak, growing memory
memory usage, ram usage, memory consumption
cpu usage, processor load, cpu load
cpu, processor, core
daemon, service, background process
background job, worker, async task
cron job, scheduled task, scheduled job
systemd, service unit
start at boot, enable service, autostart
boot loader, bootloader, grub
kill process, terminate process, sigkill
pid, process id
exit code, return code, exit status
return value, result, output
stdout, standard output
stderr, standard error
stdin, standard input
pipe, redirect output
shell script, bash script
command, subcommand
command line option, command line argument, flag
environment variable, env var
dotfile, rc file
config file, configuration file, settings file
settings file, preferences file
yaml, yml
ini, properties file
hot reload, live reload, reload
without restart, hot reload, at runtime
without downtime, zero downtime, rolling update
rolling update, rolling upgrade, gradual rollout
rollout, deployment
roll out, deploy, release
deploy, push to production, go live
production, prod, live
staging, test environment, preproduction
dev, development
ci, continuous integration
cd, continuous delivery, continuous deployment
ci cd, pipeline, build pipeline
artifact, artefact, build output
package manager, dependency manager
dependencies, required packages
transitive, indirect
pin version, lock version, exact version
lock file, lockfile
version number, release number
major version, breaking change
breaking change, incompatible, backward incompatible
backward compatible, compatibility
supported versions, compatibility matrix
long term support, lts
end of life, eol, unsupported
end of support, eol, no longer supported
downgrade, older version, roll back
changelog, release notes, change log
patch, hotfix, fix
workaround, work around, alternative
git, version control, source control
check out, checkout, clone
commit, check in, changeset
pull request, merge request, pr
code review, peer review
default branch, main, master
merge conflict, conflicting changes
stash, shelve
revert, undo, back out
webhook, callback, http callback
publish, emit
message queue, broker
publisher, producer
exactly once, deduplication
deduplicate, dedupe, remove duplicates
duplicate, dedup
idempotent, repeatable, safe to retry
retry, reattempt, backoff
backoff, retry delay, exponential backoff
timeout, deadline, time limit
circuit breaker, fail fast
atomic, all or nothing
rollback, abort transaction
lock, mutex, exclusive access
deadlock, lock contention
race condition, concurrent access
thread safe, concurrency, reentrant
concurrent, multi threaded, multithreaded
multithreading, threads, parallelism
asynchronous, async, non blocking
nonblocking, non blocking, async
coroutine, async function
await, wait for
poll, check periodically
interval, frequency, period
utc, gmt, universal time
unix time, epoch, unix timestamp
clock drift, clock skew, time sync
ntp, time synchronization
daylight saving, dst, summer time
column, attribute, field
primary key, unique identifier
identifier, id
unique id, uuid, guid
prepared statement, parameterized query
group by, aggregate
aggregate, summarize, combine
stored procedure, function
nullable, null, optional
null, nil, none
undefined, unset, missing
boolean, bool, true or false
float, floating point, decimal
decimal, fractional
substring, part of string
char, character
array length, number of elements
list, collection
hash map, hashmap, dictionary
key value, map
constant, const, immutable
immutable, read only, unchangeable
mutable, changeable, modifiable
declare, define
initialise, initial value
default value, fallback
fallback, default, alternative
export, expose
constructor, initializer
destructor, finalizer
inheritance, subclassing
subclass, derived class, child class
superclass, base class, parent class
override, overwrite, redefine
cast, convert type, type conversion
coerce, convert, cast
type hint, type annotation
lambda, anonymous function
function, procedure, subroutine
call function, invoke
recursion, recursive, calls itself
iterate, loop, traverse
condition, if statement
regex, regular expression, pattern
wildcard, glob, asterisk
quotes, quotation marks
double quotes, quoted
backslash, escape character
whitespace, space, blank
trailing space, trailing whitespace
strip, trim, remove whitespace
newline, line feed, line ending
line ending, crlf, end of line
encoding, charset, character set
unicode, utf 8, utf8
base64, encode
hash, digest, checksum
checksum, hash, integrity
random, arbitrary
random number, rng
seed, initial state
decrypt, decipher, decode
encryption at rest, encrypt data
private key, secret key
key pair, keypair
ssh, secure shell
ssh key, public key
api key, access key, token
access token, bearer token
secrets, sensitive data, credentials
revoke, withdraw, invalidate
invalidate, expire, revoke
self signed, untrusted certificate
expired certificate, certificate renewal
renew, extend, refresh
root, sudo, admin rights
admin rights, administrator privileges, elevated
permissions, access control
access control, acl, authorization
authorise, authorize, permit
authn, authentication
rbac, roles, role based
ldap, active directory, directory service
chmod, file permissions, mode
privilege escalation, elevate
audit log, audit trail, activity log
log file, logfile, logs
logs, log output
logging, log messages
log level, verbosity
verbose, detailed output, more output
quiet, silent, suppress output
silent, no output
debug mode, verbose, debugging
debugger, breakpoint
breakpoint, stop execution
stack trace, traceback, backtrace
traceback, call stack
core dump, crash dump
error handling, exception handling
catch error, handle exception
unit test, test case
test coverage, code coverage
mock, stub, fake
fixture, test data
flaky, intermittent, unreliable
intermittent, sporadic, occasional
reproduce, replicate
reproducible, deterministic
linter, static analysis
formatter, code style
style guide, coding conventions, code style
coding standard, coding conventions
naming convention, naming rules
compile error, build error, compilation failure
runtime, execution time
transpile, compile
minify, compress, shrink
bundler, build tool
binary, executable
executable, program
exe, executable
install from source, build from source
installer, setup program
prerequisites, requirements, dependencies
get started, quickstart, quick start
getting started, first steps, quickstart
hello world, first program
sample code, code example, snippet
endpoint, url, route
url, uri, address
http request, api call
body, payload
query string, query parameter, url parameter
cross origin, cors
stateless, no state
serialize, marshal, dump
deserialize, unmarshal, parse
websocket, web socket
server push, sse, server sent events
download file, retrieve
cache, memoize
cache expiry, cache ttl, cache invalidation
clear cache, flush, invalidate
flush, write out
pagination, paging, page through
page size, results per page
limit results, page size
sort order, ordering, collation
sort, order by
ascending, increasing
descending, decreasing
filter, restrict, select
full text, text search
fuzzy, approximate
case insensitive, ignore case
case sensitive, capitalization
garbage collection, gc, memory management
allocate, reserve
free memory, release, deallocate
deallocate, free
out of bounds, index error, range error
off by one, fencepost
divide by zero, division by zero
absolute path, full path
relative path, current directory
working directory, current directory, cwd
home directory, home folder, user folder
parent directory, up one level
symlink, symbolic link, soft link
hidden file, dotfile
executable bit, chmod
file watcher, watch files
temp file, temporary file
socket, unix socket
tcp, transmission control
connection pool, pooling
pool size, max connections
max connections, connection limit
open files limit, ulimit, file descriptors
file handle, file descriptor
monitoring, observability
tracing, spans
uptime, availability
sla, service level agreement
postmortem, post mortem, root cause analysis
root cause, reason, cause
maintenance window, planned downtime, scheduled maintenance
decommission, retire, shut down
provision, set up, allocate
infrastructure as code, terraform
kubernetes, k8s
multi tenant, multi tenancy
cdn, content delivery network
self hosted, own server, on premises
open source, free software
proprietary, closed source, commercial
third party, external
built in, native, bundled
builtin, built in, predefined
built in, by default
experimental, unstable, beta
nightly, development build
feature flag, feature toggle
dry run, simulate, preview
prompt, ask for confirmation
non interactive, unattended, batch mode
automate, automation, script
automatic, automatically
manually, by hand
batch, bulk, many at once
bulk, mass
mass delete, bulk delete
gui, graphical interface, user interface
frontend, client side, front end
backend, server side, back end
extend, extensible, plugin
customise, customize, tailor
localisation, localization, translation
internationalization, i18n, localization
l10n, localization
`

/** Things that are bought, used and repaired. */
const devices = `
phone, mobile, smartphone, handset
cell phone, mobile phone, handset
landline, fixed line, home phone
desktop computer, pc
fridge, refrigerator
freezer, deep freezer
stove, hob, cooktop
burner, hotplate, cooking zone
microwave, microwave oven
dishwasher, dish washing machine
washing machine, washer
dryer, tumble dryer
laundry, washing, clothes
detergent, washing powder, cleaning agent
fabric softener, conditioner
rinse aid, rinse agent
vacuum, vacuum cleaner, hoover
dust bag, vacuum bag
kettle, water boiler
coffee machine, coffee maker
air conditioner, aircon, ac
heater, radiator
heating, central heating
thermostat, temperature control
ventilation, airflow, ventilate
bulb, light bulb, lamp
led, indicator light, status light
blink, flash
blinking, flashing light
light up, illuminate, glow
illumination, lighting
switch on, power on
power off, switch off, shut down
turn on, power on, start
turn off, power off
power button, on off switch, power switch
does not start, no power, does not turn
dead, no power
power cut, power failure, power outage
blackout, power outage
power supply, power adapter, mains
mains, power outlet, electrical supply
socket, outlet, power point
plug in, connect
unplug, disconnect, remove plug
power cord, mains cable, power cable
extension cord, extension lead
fuse, circuit breaker
short circuit, electrical fault
electric shock, electrocution
voltage, volts
wattage, watts, power consumption
power consumption, energy use, electricity usage
energy saving, power saving, eco mode
battery saver, low power mode, power saving mode
sleep mode, standby, hibernate
wake up, wake
battery, accumulator
rechargeable, accumulator
charger, charging adapter, power adapter
charging cable, charger cord
charging station, charging dock, cradle
charging point, charging station
fully charged, full battery
battery empty, battery flat, discharged
flat battery, dead battery, discharged battery
battery life, battery runtime, operating time
battery level, charge level, remaining charge
low battery, battery low
replace battery, change battery, battery replacement
wireless charging, inductive charging, qi
usb stick, flash drive, thumb drive, memory stick
sd card, memory card
sim, sim card
external drive, external hard drive
graphics card, gpu, video card
motherboard, mainboard
cpu fan, cooling fan
overheat, too hot, high temperature
overheating, gets hot, excess heat
mouse, pointing device
touchpad, trackpad
touchscreen, touch screen
cracked screen, broken glass, display damage
scratch, abrasion
dead pixel, pixel defect
screen protector, protective film
housing, enclosure, casing
bracket, mount, holder
wall mount, mount on wall, hang
tighten, screw in
wrench, spanner
glue, adhesive
tape, adhesive tape
leak, drip
leakage, escape of water, leak
water damage, liquid damage, moisture damage
liquid, fluid
waterproof, water resistant, watertight
splash proof, splash resistant, water resistant
wet, damp, moist
humidity, moisture, damp
mould, mold, mildew
rust, corrosion, oxidation
rusty, corroded
dust, debris, dirt
clean, wipe, wash
cloth, rag, wipe
descale, decalcify, remove limescale
limescale, scale, calcium deposits
clogged, blocked, obstructed
clog, blockage, obstruction
blocked drain, clogged drain
noisy, loud, noise
squeak, creak, squeal
beeping, audible alarm
smell, odor, odour
stink, bad smell, odor
smoke, fumes
weigh, weight
maximum load, load capacity, weight limit
height, how tall, how high
width, how wide
broken, out of order, does not work
malfunction, fault, failure
break down, fail, breakdown
worn out, worn, used up
wear and tear, normal wear, abrasion
spare part, replacement part
spares, spare parts
parts, components
accessories, optional equipment
included, supplied, scope of delivery
in the box, package contents, scope of delivery
repair shop, service center, service centre
plumber, installer
garage, workshop
servicing, inspection, maintenance
service interval, maintenance schedule, maintenance interval
assemble, put together, assembly
disassemble, take apart, dismantle
dispose, throw away, discard
throw away, dispose, disposal
user manual, instruction manual, operating instructions
manual, instructions, user guide
model number, type designation
serial number, serial no
rating plate, type plate, nameplate
warranty, guarantee
factory reset, reset to defaults, restore factory settings
hard reset, factory reset
firmware, system software
firmware update, software update
pairing, bluetooth connection
unpair, forget device
bluetooth, wireless connection
wifi, wireless network
no signal, no reception, no network
reception, signal strength, signal
antenna, aerial
airplane mode, flight mode, aeroplane mode
mobile data, cellular data
roaming, data abroad
hotspot, tethering
ringtone, ring tone
vibrate, vibration
hang up, end call
pick up, answer call
call forwarding, call divert, forward calls
caller id, number display
speed dial, quick dial
hands free, handsfree, speakerphone
loudspeaker, speakerphone
missed call, unanswered call
step counter, pedometer
heart rate, pulse
bracelet, strap, band
shutter speed, exposure time
aperture, f stop, f number
autofocus, auto focus
white balance, colour temperature
viewfinder, eyepiece
blurred, camera shake, motion blur
image stabilization, vibration reduction, shake reduction
continuous shooting, burst mode
burst, continuous shooting
time lapse, interval shooting, timelapse
memory full, no space, card full
printer, printing device
cartridge, ink, ink cartridge
paper tray, paper cassette, input tray
paper size, paper format
printhead, print head, nozzle
car, automobile, vehicle
truck, lorry
motorbike, motorcycle
scooter, moped
tow bar, hitch, trailer coupling
breakdown, roadside assistance
petrol, gasoline, gas, fuel
refuel, fill up, refill
gas tank, fuel tank
fuel cap, filler cap, tank cap
gas station, petrol station, filling station
fuel consumption, mileage, fuel economy
mpg, fuel economy, fuel consumption
engine, motor
engine oil, motor oil
oil change, change oil
oil level, dipstick
coolant, antifreeze, cooling fluid
windshield, windscreen
wiper, windscreen wiper
washer fluid, screenwash
hood, bonnet, engine compartment
trunk, luggage compartment
trunk, cargo area
tailgate, liftgate, rear door
tyre, tire
tyre pressure, tire pressure, inflation pressure
flat tyre, flat tire, puncture
puncture, flat
spare tyre, spare wheel
winter tyres, snow tires
steering wheel, steering
headlight, headlamp, low beam
high beam, full beam, main beam
fog light, fog lamp
turn signal, indicator, blinker
hazard lights, warning flashers, hazard flashers
brake light, stop lamp
handbrake, parking brake
brake pads, brake linings
clutch, clutch pedal
gear shift, gear lever, selector lever
automatic, automatic transmission
stick shift, manual transmission
cruise control, speed control
speedometer, speed display
dashboard, instrument panel
warning light, indicator lamp, telltale
check engine light, engine warning light, malfunction indicator
jump start, jump leads, starting aid
car key, vehicle key, remote key
immobilizer, anti theft
alarm system, anti theft
central locking, power locks
child lock, child safety lock
isofix, child seat
seat belt, seatbelt, safety belt
heated seats, seat heating
sunroof, roof hatch
wing mirror, door mirror, exterior mirror
defrost, defog, demist
fog up, mist, condensation
exhaust pipe, tailpipe
electric car, electric vehicle, ev
license plate, number plate, registration plate
parking sensor, park assist, parking aid
reversing camera, rear view camera, backup camera
satnav, navigation system, gps
car radio, infotainment
bumper, fender
lawnmower, mower
spool, bobbin
smart home, home automation
doorbell, bell
smoke detector, smoke alarm
motion sensor, motion detector
sensor, detector
baby monitor, babyphone
controller, gamepad, joystick
virtual reality, vr headset
3d printer, additive manufacturing
filament, printing material
set clock, set time
timer, countdown
delay start, timer
wash cycle, washing programme
quick wash, short programme
celsius, degrees
defrost, thaw, melt
preheat, heat up, warm up
ice build up, frosting
handle, grip
gap, clearance, distance
gasket, seal
lubricate, grease, oil
grease, lubricant
lubricant, oil
calibrate, adjust, align
calibration, adjustment
deflate, let air out
nozzle, spout, jet
hose clamp, clip
unlevel, wobble, unsteady
shake, vibrate
tilt, incline
upright, vertical
upside down, inverted
gearbox, transmission
not charging, does not charge
too loud, excessive noise
too hot, overheat, excessive temperature
smells, odour, unpleasant odor
`

/** Money, trade and law. */
const money = `
bank account, checking account, current account
savings account, deposit account
open account, account opening
close account, account closure, terminate account
joint account, shared account
overdraft, overdrawn, negative balance
account balance, available funds
bank statement, account statement
transfer money, send money, remittance
standing order, recurring payment
autopay, automatic payment, direct debit
withdraw, take out, cash withdrawal
cash machine, atm, cashpoint
insufficient funds, not enough money, nsf
debit card, bank card
cvv, security code, card verification
lost card, stolen card, block card
block card, freeze card
card declined, payment declined, card rejected
chargeback, dispute charge, payment dispute
dispute charge, unauthorized transaction
unknown charge, unauthorised transaction, unrecognized charge
exchange rate, conversion rate
foreign currency, exchange rate
iban, account number
sort code, bank code, routing number
interest, interest rate, apr
apr, annual percentage rate
loan, credit, borrowing
borrow money, loan, credit
mortgage, home loan, property loan
mortgage, housing loan
borrower, debtor
debt, liability, amount owed
owed, payable, due
late payment, overdue payment, arrears
overdue, past due, late
arrears, overdue amount
late fee, late charge, penalty
fine, penalty, sanction
payment reminder, dunning, overdue notice
collection agency, debt collector
bankrupt, insolvent, bankruptcy
insolvency, bankruptcy
pay off, repay, settle
pay off early, early repayment, prepayment
installment, monthly payment
pay in installments, payment plan, financing
payment plan, installments
down payment, deposit, advance payment
advance payment, prepayment, pay in advance
prepaid, paid in advance
guarantor, co signer, surety
credit score, credit rating, creditworthiness
credit history, credit report
shareholder, stockholder
dividend, profit distribution
portfolio, holdings
stock exchange, stock market
revenue, turnover, sales
spend, expenditure
budget, spending plan
net worth, assets
cryptocurrency, bitcoin, crypto
taxes, taxation
taxpayer, person liable
tax office, revenue service, irs
irs, tax authority
tax return, income tax declaration, tax declaration
file taxes, tax return, submit return
tax refund, tax repayment
tax free, tax exempt, non taxable
exempt, excluded, not subject
taxable, subject to tax
deduct, write off, deductible
tax deductible, deduction, allowable
tax break, tax relief, tax credit
vat, sales tax, value added tax
including tax, gross price, vat included
excluding tax, net price, plus vat
tax id, tax number, tin
vat number, tax id
customs duty, import duty, tariff
duty free, exempt from duty
self employed, sole trader, freelancer
bookkeeping, accounting, record keeping
write off, depreciate
depreciation, write down
fiscal year, financial year, tax year
quarterly, every three months, per quarter
insurance policy, insurance contract
policyholder, insured person
insurer, insurance company, insurance provider
deductible, excess
insurance claim, file claim, report damage
not covered, excluded, exclusion
exclusion, not covered, exception
liability insurance, third party insurance
third party liability, liability insurance
car insurance, motor insurance, auto insurance
home insurance, household insurance, contents insurance
travel insurance, trip insurance
life insurance, life assurance
beneficiary, recipient
damages, compensation
compensate, reimburse, indemnify
indemnity, compensation
contract, agreement
terms and conditions, general terms, terms of service
terms of use, terms of service, conditions of use
small print, terms and conditions
sign contract, conclude contract
valid, in force, effective
in force, effective, take effect
invalid, not valid, void
minimum term, minimum contract period
cancel contract, terminate contract, termination
cancellation, termination, withdrawal
cancellation period, notice period
withdraw, revoke, cancel
right of withdrawal, cancellation right, cooling off
cooling off period, withdrawal period
money back guarantee, refund guarantee
extend contract, renew contract, renewal
automatic renewal, tacit renewal
breach, violation, infringement
break contract, breach of contract
break rules, violate, breach
violate, infringe
violation, non compliance, breach
comply, adhere, obey
follow rules, comply, adhere
compliance, conformity
law, legislation
legal, lawful, permitted
illegal, unlawful, prohibited
against the law, illegal, unlawful
lawyer, attorney, solicitor
attorney, legal counsel, advocate
sue, lawsuit, legal action, take to court
lawsuit, litigation, legal proceedings
verdict, judgment, ruling
ruling, decision, judgment
plaintiff, claimant
defendant, accused
prove, proof, demonstrate
guilty, convicted
jail, prison, imprisonment
prison, custody, detention
crime, offence, offense
offender, perpetrator
burglary, break in
scam, fraud
scam, deceive
counterfeit, fake, forged
fake, forged, false
forge, falsify
identity theft, stolen identity
launder, money laundering
arbitration, dispute resolution
liable, responsible, accountable
liability, responsibility
negligence, carelessness
disclaimer, exclusion of liability
jurisdiction, applicable law, governing law
power of attorney, proxy, authorization
on behalf, represent
testament, last will
inherit, inheritance
heir, beneficiary
notarize, certify, notary
certified copy, authenticated copy
royalty, licence fee
privacy, data protection
privacy policy, data protection notice, privacy notice
gdpr, data protection regulation
personal data, personal information, pii
my data, personal data
delete data, erasure
data request, subject access request, right of access
see my data, access request
withdraw consent, revoke consent
pass on data, disclose, transfer
how long stored, retention period
data breach, data leak, personal data breach
minor, under age, child
age limit, minimum age
underage, minor
adult, over 18
shop, store, retailer
online shop, web shop, online store
webshop, online store
shopping cart, basket, shopping basket
checkout, place order, order process
place order, order
purchase order, po
order number, order id, order reference
order confirmation, confirmation email
track package, tracking, shipment tracking
tracking number, shipment number, consignment number
package, parcel, shipment
parcel, consignment
shipping, delivery
shipped, dispatched, sent
shipping cost, delivery charge, postage
shipping fee, delivery fee
free shipping, free delivery
delivery time, shipping time, lead time
express, next day delivery, priority
post office, postal service
delivery address, shipping address
billing address, invoice address
pick up, collect
click and collect, store pickup
not delivered, lost parcel, missing package
late delivery, delayed delivery
damaged in transit, transport damage
return, send back
return, give back
returns, return policy
send back, return shipment
return label, return slip
get money back, refund
store credit, voucher
gift card, gift voucher, gift certificate
coupon, voucher, discount code
promo code, discount code, voucher code
redeem, use voucher
cheap, low cost, inexpensive
cheap, affordable, low price
cheaper, discount, reduced
cheapest, lowest price
expensive, costly, high cost
free, no cost, free of charge
free, no charge, at no cost
for free, free of charge
gratis, free of charge
how much, price, cost
price list, rates, tariff
surcharge, additional charge, extra cost
extra charge, surcharge, additional fee
hidden costs, additional costs
in stock, available
out of stock, sold out, unavailable
sold out, no longer available
back order, backorder, preorder
bulk order, volume, large quantity
wholesale, bulk
bulk discount, volume discount, quantity discount
price match, best price
pay, payment
payment method, means of payment, payment option
pay by card, card payment
pay cash, cash payment
cash on delivery, pay on delivery
contactless, tap to pay
pay later, on account, deferred payment
payment terms, due date
invoice number, reference number
billing period, billing cycle
charged twice, double charge, duplicate charge
overcharged, billed incorrectly
seller, vendor, merchant
merchant, trader, retailer
buyer, purchaser, customer
warranty period, guarantee period
under warranty, warranty claim
warranty void, warranty expires, loss of warranty
extended warranty, warranty extension
defect, fault, flaw
faulty, defective, flawed
approved supplier, preferred vendor
business, company, firm
company, corporation, firm
start a business, found company, business registration
business owner, entrepreneur, proprietor
merger, takeover, acquisition
subsidiary, daughter company
nonprofit, charity, non profit
funding, financing
rent, lease
landlord, lessor, owner
tenant, renter
rent deposit, security deposit
utilities, ancillary costs
rent increase, raise rent
evict, notice to quit
sublet, sublease
flatmate, roommate, co tenant
real estate, property
estate agent, realtor, property agent
owner, proprietor
confiscate, seize
`

/** Health, education and public services. */
const health = `
sick, ill, unwell
disease, disorder
doctor, physician, gp
gp, general practitioner, family doctor
pharmacist, chemist
pharmacy, chemist, drugstore
hospital, clinic
emergency room, accident and emergency
ambulance, emergency services, paramedic
emergency number, emergency call
emergency call, 112, 911, 999
doctor appointment, consultation
see a doctor, seek medical advice, consult physician
ask doctor, consult
medicine, medication, drug
medication, pharmaceutical
pill, tablet
dose, dosage, amount
take medicine, administer
overdose, too much, excessive dose
missed dose, forgot to take, forgotten dose
side effect, adverse reaction, undesirable effect
adverse effect, side effect
prescription, prescribed
over the counter, without prescription, non prescription
painkiller, pain relief, analgesic
pain, ache, discomfort
hurt, pain, painful
headache, migraine
stomach ache, abdominal pain, stomach pain
belly, abdomen, stomach
tummy, abdomen
throw up, vomit
nausea, sick feeling
diarrhea, diarrhoea
pee, urinate, urine
fever, high temperature
flu, influenza
runny nose, nasal discharge
blocked nose, nasal congestion
sore throat, throat pain
rash, skin irritation, skin reaction
itch, itchy
allergy, allergic, hypersensitivity
allergic reaction, hypersensitivity
swell, swollen
bruise, contusion
bleed, haemorrhage
blood pressure, hypertension
high blood pressure, hypertension
low blood pressure, hypotension
heart attack, myocardial infarction
heart disease, cardiac
heart, cardiac
lung, pulmonary
breathing, respiration, respiratory
shortness of breath, breathlessness, difficulty breathing
kidney, renal
liver, hepatic
brain, cerebral
broken bone, fracture
wound, injury, lesion
band aid, plaster, adhesive bandage
first aid, emergency care
first aid kit, medical kit
burn, scald
poison, toxic, poisonous
toxic, harmful, hazardous
swallow, ingest
inhale, breathe in
eye contact, get in eyes
skin contact, get on skin
faint, unconscious, lose consciousness
dizzy, dizziness, vertigo
tired, fatigue, tiredness
tiredness, exhaustion, drowsiness
sleepy, drowsy
drowsiness, sleepiness
insomnia, sleep problems, sleeplessness
anxious, anxiety
addiction, dependence
alcoholic, alcohol dependence
quit smoking, stop smoking, smoking cessation
overweight, obese, obesity
lose weight, weight loss
gain weight, weight gain
healthy eating, nutrition, diet
vegetarian, vegan, meat free
diabetes, diabetic
blood sugar, blood glucose
cancer, tumour, tumor
infection, infectious
infectious, contagious, communicable
contagious, infectious, transmissible
germ, bacteria, pathogen
covid, coronavirus
quarantine, isolation, self isolate
jab, vaccination
injection, syringe
vaccinated, immunised, immunized
surgery, operation
anaesthetic, anesthesia, anesthetic
x ray, radiograph
blood test, blood sample
diagnosis, diagnose
checkup, check up, medical examination
get worse, worsen, deteriorate
rehab, rehabilitation
physio, physiotherapy, physical therapy
wheelchair, mobility aid
crutch, walking aid
hearing aid, hearing device
contact lenses, contacts
toothache, dental pain
contraception, birth control
birth control, contraceptive
miscarriage, pregnancy loss
breast feed, breastfeed
baby, infant, newborn
toddler, young child
teenager, adolescent, young person
elderly, older people, seniors
senior, pensioner
nursing home, care home
organ donor, organ donation
wash hands, hand hygiene
disinfect, sanitize, sterilize
sterilise, sterilize, disinfect
bleach, disinfectant
gloves, protective gloves
goggles, eye protection, safety glasses
helmet, head protection, hard hat
earplugs, hearing protection, ear protection
safety shoes, protective footwear
protective gear, ppe, protective equipment
danger, hazard, risk
safety rules, safety instructions
warning sign, safety sign
near miss, close call
fire extinguisher, extinguisher
emergency exit, escape route, fire exit
escape route, evacuation route
evacuate, leave building
assembly point, meeting point, muster point
fire brigade, fire department, fire service
firefighter, fire brigade
radiation, radioactive
flammable, inflammable, combustible
chemicals, hazardous substances
gas leak, escaping gas
asbestos, hazardous material
suffocate, asphyxiation
slip, slippery
school, educational institution
primary school, elementary school
high school, secondary school
kindergarten, nursery, preschool
uni, university
student, pupil
pupil, schoolchild
freshman, first year
professor, lecturer
lecturer, instructor
principal, headteacher, head teacher
dean, faculty head
dorm, dormitory, hall of residence
student housing, dormitory, halls of residence
lecture, class
class, lesson
lesson, teaching unit
degree program, study programme
curriculum, syllabus
syllabus, course outline
course catalog, module handbook
elective, optional course
compulsory course, core course, required course
prerequisite, entry requirement
admission requirements, entry requirements
apply to university, admission application
get accepted, admission, admitted
enrol, matriculate, register
enrolment, registration
matriculation, enrolment
deregister, exmatriculation, withdraw
drop course, withdraw from course
switch major, change of programme
semester, term
academic year, school year
summer break, semester break
timetable, schedule, class schedule
attendance, presence
skip class, absence, miss class
compulsory attendance, mandatory attendance
homework, assignment
assignment, coursework
term paper, seminar paper
thesis, dissertation
bachelor, undergraduate
undergrad, undergraduate
grad student, postgraduate, graduate student
phd, doctorate, doctoral
hand in, submit, turn in
late submission, submit late, missed deadline
deadline, due date, closing date
closing date, submission deadline
exam, examination, test
midterm, interim exam
final exam, final examination
oral exam, oral examination, viva
written exam, written examination
resit, retake, repeat exam
pass exam, passing grade
pass mark, passing grade, minimum score
fail exam, failed attempt, not pass
flunk, fail
miss exam, absence from exam
cheating, academic dishonesty, deception
grade average, gpa, grade point average
regrade, review of grade
grade appeal, contest grade
transcript, academic record, record of grades
credit, credit point, ects
credits, credit hours
transfer credits, recognition of credits
graduate, complete degree
graduation, degree ceremony
diploma, certificate
honours, distinction
scholarship, grant, bursary
student loan, financial aid
financial aid, scholarship, grant
tuition, tuition fee
student id, student card
student union, student council
exchange student, study abroad
study abroad, exchange semester
erasmus, exchange programme
internship, practical training
leave of absence, interruption of studies
library card, reader card, library membership
borrow book, loan, check out
overdue book, late return
return book, give back
textbook, course book
learning platform, lms, moodle
online course, e learning
e learning, distance learning, online learning
distance learning, remote study
expel, expulsion, exclude
parents evening, parent teacher meeting
school uniform, dress code
special needs, learning disability
dyslexia, reading difficulty
disability support, disadvantage compensation
authority, agency, public body
city hall, town hall, municipal office
town hall, municipality
mayor, head of municipality
local authority, council
citizenship, nationality
become citizen, naturalization, naturalisation
passport, travel document
id card, identity card, identity document
id, identification, proof of identity
proof of identity, identification document
driver license, driving licence
driving test, practical test
learner driver, learner permit
driving school, driving instruction
birth certificate, record of birth
marriage certificate, certificate of marriage
get married, marry, marriage
civil partnership, registered partnership
alimony, spousal support
child support, child maintenance
guardian, legal representative
death certificate, record of death
funeral, burial
bury, burial
single parent, lone parent
child benefit, child allowance, family allowance
parental allowance, maternity benefit
welfare, social assistance, social security
unemployed, jobless, out of work
unemployment benefit, jobseeker allowance
job center, employment agency
social security number, national insurance number
eligibility, who can apply, entitlement
entitled, right to
qualify, meet requirements, eligible
am i allowed, permitted
apply online, online application
fill in form, complete form
submit documents, supporting documents
documents needed, required documents
application status, track application
foreigner, foreign national, alien
foreigner, non citizen
refugee, asylum seeker
visa, entry permit
residence permit, permission to stay, residence title
permanent residence, settlement permit, indefinite leave
green card, permanent residence
overstay, exceed stay
extend visa, visa extension
enter country, entry
emigrate, move abroad
embassy, consulate
consulate, diplomatic mission
spouse visa, family reunification
work permit, permission to work
register address, residence registration
address, place of residence
resident, inhabitant
residence, domicile
housing, accommodation
flat, apartment
apartment, dwelling
council house, social housing
housing benefit, rent subsidy
homeless, without shelter
shelter, refuge
neighbour, neighbor
quiet hours, night time noise
garbage, rubbish, waste
trash, garbage, waste
trash can, dustbin, waste container
garbage collection, waste collection, refuse collection
bulky waste, large items
recycling, waste separation
recycling center, waste disposal site
compost, organic waste
sewage, wastewater
drinking water, tap water
electricity, energy supply
building permit, planning permission
renovate, refurbish
renovation, refurbishment
vote, cast ballot
voter, elector
vote by mail, postal vote, absentee ballot
absentee voting, postal vote
polling station, polling place
register to vote, voter registration
candidate, nominee
run for office, stand for election
referendum, popular vote
military service, conscription
dog leash, dog lead
gun license, firearms licence
public transport, public transit
subway, underground, metro
tram, streetcar
train station, railway station
ticket, fare
fare, ticket price
single ticket, one way
return ticket, round trip
reduced fare, concession, discounted ticket
concession, reduced rate
fare evasion, without ticket
seat reservation, reserve seat
luggage, baggage
suitcase, luggage
checked baggage, hold luggage
lost luggage, missing baggage
lost property, lost and found
lost and found, lost property office
boarding pass, boarding card
miss flight, missed connection
delayed flight, flight delay
cancelled flight, flight cancellation
bicycle lane, cycle path
sidewalk, pavement, footpath
crosswalk, pedestrian crossing
traffic light, traffic signal
roundabout, traffic circle
highway, motorway, freeway
toll, road charge
road works, construction site
speed limit, maximum speed
speeding, exceed speed limit
parking ticket, parking fine
parking permit, resident parking
parking lot, car park
parking space, parking bay
parking meter, parking ticket machine
no parking, parking ban
detour, diversion
traffic jam, congestion
pedestrian, on foot
drunk driving, drink driving
hit and run, leave scene
car accident, traffic accident, collision
car registration, vehicle registration
mot, vehicle inspection, roadworthiness
`

/** Verbs of any subject. */
const verbs = `
find out, determine, discover
find out, learn, ascertain
figure out, determine, work out
work out, calculate, determine
put off, postpone, defer
postpone, delay, defer
push back, postpone, delay
get rid of, remove
get rid of, dispose
throw out, discard, dispose
give out, distribute, hand out
hand out, distribute, issue
give away, donate
give, provide, supply
take away, remove, withdraw
take out, remove, extract
take off, remove
take part, participate, attend
take place, occur, happen
take care, look after
take care of, handle
look after, care for, maintain
look for, search, seek
look into, investigate, examine
look over, review, inspect
look through, browse, review
go back, return
go on, continue, proceed
go ahead, proceed
go up, increase, rise
go down, decrease, fall
get back, recover, regain
get into, enter, access
get out, exit, leave
get in touch, contact, reach
get hold of, contact, obtain
get ready, prepare
get started, begin
get hurt, injured, injury
get sick, fall ill
get rid, dispose, eliminate
receive, obtain
come back, return
come up, arise, occur
come up with, devise, propose
come from, originate, source
come with, include
come out, release, publish
bring back, return
put in, insert, enter
put on, wear
put out, extinguish
put away, store
put up with, tolerate
put together, assemble, compile
put together, combine
set up, establish, arrange
lay down, stipulate, specify
make sure, ensure, verify
ensure, guarantee, make certain
make changes, modify, edit
make better, improve
make worse, aggravate
make easier, simplify, facilitate
make smaller, reduce, shrink
make bigger, enlarge, increase
turn down, lower, decrease
turn up, increase
turn around, rotate
break down, fail, malfunction
break off, interrupt, discontinue
break into, intrude, burglary
run out, exhausted, deplete
run out, expire
run into, encounter
operate, work, function
work together, cooperate, collaborate
keep up, maintain
keep track, monitor, record
keep quiet, confidential
keep away, avoid
keep in mind, note, remember
bear in mind, consider, note
call off, cancel
call back, return call
carry out, perform, conduct
perform, execute, carry out
do again, repeat, redo
deal with, handle, manage
handle, deal with, process
cope, manage, handle
check over, inspect, review
check with, consult
ask for, request
ask, inquire, enquire
inquiry, enquiry, question
ask permission, request approval
would like, wish
mean, signify, denote
think about, consider
think over, consider
guess, assume
expect, anticipate
foresee, anticipate, predict
predict, forecast
understand, comprehend
explain, describe, clarify
explain, illustrate
spell out, specify
point out, indicate, mention
show, indicate, demonstrate
demonstrate, illustrate
let know, inform, notify
tell apart, distinguish
talk, speak, discuss
talk about, discuss
talk to, contact, consult
speak with, contact
write down, record, note
note down, record
jot down, note
sum up, summarize
summarise, summarize, recap
shorten, abbreviate, reduce
cut down, reduce
cut off, disconnect, interrupt
cut short, curtail
cut back, reduce
reduce, decrease, lower
reduce, diminish
minimize, minimise, reduce
increase, raise, rise
grow, increase, expand
expand, extend, enlarge
extend, prolong, lengthen
spread out, distribute
improve, enhance, optimize
worsen, deteriorate, degrade
fix up, repair
correct, rectify
sort out, resolve
straighten out, resolve
make decision, decide
say no, refuse, decline
acknowledge, confirm, recognize
confirm, verify, acknowledge
double check, verify
make certain, verify
look at, view, examine
look at, inspect
examine, inspect, investigate
investigate, examine, research
analyze, analyse, evaluate
evaluate, assess, appraise
measure, gauge, quantify
compare, contrast
weigh up, consider
classify, categorize, sort
notice, observe, spot
spot, detect
watch out, beware, caution
be careful, caution, beware
leave behind, abandon
leave alone, do not touch
stop, halt, cease
stop working, fail
close down, shut down
shut off, turn off, close
start over, restart, begin again
start again, restart
start, commence
begin, commence
happen again, recur
cause, trigger, lead to
lead to, cause, result in
bring about, cause
arrange, organise
arrange, schedule
book, schedule
hold on, wait
hang on, wait
stay, remain
follow, comply, observe
ignore, disregard
miss, fail to attend
lose, misplace
forget, omit
remember, recall
try out, test
try to, attempt
manage to, succeed
succeed, achieve
achieve, accomplish, attain
reach, achieve, attain
contact, reach out
contact, write to
help, assist, support
help out, assist
assist, aid
back up, support
protect, safeguard
guard, protect
defend, protect
hurt, damage, harm
ruin, damage, destroy
damage, impair
destroy, demolish
wreck, destroy
mess up, damage
tear, rip
bend, flex
twist, rotate
pull out, withdraw, remove
pull out, extract
pick out, select
lift, raise
drop off, deliver
drop by, visit
carry, transport
carry with, bring
transport, convey
move, transfer
move out, vacate
move in, occupy
switch, swap
switch over, change
change, replace
change back, revert, restore
adapt, adjust
adjust, regulate
manage, administer
run by, operated by
show how, demonstrate
teach, instruct, train
teach, educate
learn about, familiarize
get used to, familiarize
use, utilise
make use, utilize
use up, consume
use up, exhaust
consume, use
save up, accumulate
save money, reduce costs
collect, gather
gather, accumulate
pile up, accumulate
build up, accumulate
separate, detach
detach, remove
hook up, connect
link up, connect
put through, connect
hand over, deliver, transfer
send in, submit
send out, dispatch
send off, dispatch
send on, forward
pass on, transmit
pass away, die
pass out, faint
take time, last
clear out, empty
clear away, remove
clean, cleanse
wipe off, clean
soak, immerse
mix, stir
heat up, warm
cool down, cool
warm up, heat
eat, consume
bring, carry
bring in, introduce
phase out, discontinue
rule out, exclude
miss out, omit
count as, considered
treat as, considered
consist, comprise
contain, include, comprise
be made of, consist
own, possess
belong to, owned
depend, rely
depend on, determined by
trust, rely
affect, impact, influence
apply to, valid for
fit, suit
suit, suitable
match, correspond
go with, match
differ, vary
cover up, conceal
reveal, show
appear, show up
disappear, vanish
gone, disappeared, missing
vanish, missing
be missing, absent
lack, missing
let off, exempt
exempt, waive
excuse, exempt
forgive, waive
have to, must
have to, required
need to, must
ought to, should
supposed to, should
supposed to, required
able, capable
allowed to, may
allowed, permitted, permissible
may not, prohibited
be against, oppose
demand, require
instruct, direct
persuade, convince
encourage, promote
warn, caution
apologize, apology, sorry
fulfill, satisfy
celebrate, celebration
attend, be present
enter, go into
input, enter
key in, input
type in, enter
join, become member
live in, inhabit
relax, rest
fit, install
rent out, let
pay for, cover costs
pay for, fund
afford, pay
charge, invoice
advertise, promote
`

/** Adjectives, adverbs, amounts and times. */
const adjectives = `
twice, two times, 2 times
once, one time, single time
three times, thrice
twice a week, two times weekly
a third, 33 percent
double, twice, two fold
triple, three times, threefold
dozen, twelve
half a year, six months, semiannual
twice a year, semiannual, biannual, every six months
every two years, biennial
every two weeks, biweekly, fortnightly
every other week, biweekly, fortnightly
every second day, every other day
every hour, hourly, per hour
every minute, per minute
every night, nightly
quarterly, every quarter, every three months
weekday, working day, business day
workday, business day, working day
year, twelve months, 12 months
around the clock, 24 hours, 24 7
midnight, 12 am
noon, midday, 12 pm
tonight, this evening
nowadays, currently, today
now, currently, at present
right now, immediately, currently
currently, at the moment
right away, immediately, without delay
immediately, at once, instantly
without delay, quickly
straight away, immediately
later, afterwards, subsequently
afterwards, subsequently, thereafter
before, prior to
earlier, previously, before
beforehand, in advance, ahead of time
in advance, ahead, beforehand
on time, punctual, timely
too late, after deadline, belated
until, up to, no later than
always, at all times, every time
always, constantly
constantly, continuously, continually
all the time, constantly, permanently
sometimes, occasionally, at times
now and then, occasionally
rarely, seldom, infrequent
hardly ever, rarely, seldom
often, frequently, regularly
regular, periodic
usually, normally, typically
normally, generally, as a rule
typical, usual, standard
common, frequent, widespread
uncommon, rare, unusual
unusual, exceptional, abnormal
weird, strange, unusual
ordinary, standard, regular
especially, particularly, in particular
temporary, provisional, interim
temporarily, for a while, short term
forever, indefinitely
unlimited, no limit, without limit
unlimited, indefinite, infinite
endless, infinite, unlimited
how long, duration, period
how long, length
how often, frequency, interval
how many, number of, amount
how much, amount, quantity
how big, size, dimension
how far, distance, range
how fast, speed
how old, age
how hot, temperature
how heavy, weight
how expensive, price
how soon, time frame, within
huge, very large, enormous
tiny, very small, minimal
bigger, larger, greater
wide, broad
thin, slim
strong, robust, durable
tough, difficult, hard
difficult, complicated, complex
easy, simple, straightforward
easily, without effort, simply
harder, more difficult
easier, simplified, simpler
best, optimal, ideal
better, preferable, superior
worse, inferior
good, suitable, appropriate
bad, harmful
harmful, damaging, detrimental
good for, beneficial
useful, helpful, beneficial
useless, ineffective
pointless, useless, unnecessary
effective, efficient
important, significant, essential
important, critical, crucial
crucial, essential, vital
main, primary, principal
urgent, time critical, high priority
urgent, pressing
extra, additional, supplementary
alternative, another option
different, distinct, separate
different, various, diverse
same, identical, equal
equal, equivalent
exact, precise, accurate
correct, accurate
wrongly, incorrectly, improperly
false, incorrect, untrue
true, correct
real, actual, genuine
genuine, original, authentic
official, formal
unofficial, informal
casual, informal
unfair, inequitable, unjust
reasonable, appropriate, fair
appropriate, suitable, proper
suitable, adequate
not enough, insufficient, inadequate
insufficient, inadequate, too little
too much, excessive
too many, excessive
a lot, many, much
lots of, many, numerous
plenty, ample, sufficient
a few, several, some
a bit, slightly
a little, slightly
slightly, somewhat
completely, fully, entirely
totally, completely, entirely
partly, partially, in part
mostly, mainly, primarily
mainly, primarily, chiefly
roughly, approximately
approximately, circa, ca
at least, minimum, no less than
at most, maximum, no more than
no more than, up to
on average, typically
per person, each person, per capita
together, jointly
jointly, in common
separate, individual
combined, together
whole, complete, full
full, occupied
empty, vacant
vacant, unoccupied
available, accessible, obtainable
available, at disposal
unavailable, not available, inaccessible
reachable, available, accessible
unfinished, incomplete
visible, shown, displayed
invisible, not shown, not visible
obvious, clear, evident
clear, unambiguous
unclear, ambiguous, vague
confusing, unclear
private, confidential
public, publicly available
shared, common, joint
abroad, overseas, foreign country
international, worldwide, global
nationwide, national, throughout the country
nearby, close, in the vicinity
next to, beside, adjacent
inside, within, internal
outside, outdoor, exterior
indoors, inside
behind, rear
underneath, beneath, below
latest, most recent, newest
oldest, earliest
outdated, obsolete, out of date
current, latest
modern, contemporary
upcoming, forthcoming, next
previous, prior, preceding
prior, earlier
used, second hand, pre owned
brand new, unused
compulsory, mandatory, obligatory
obligatory, required
optional, voluntary
voluntary, not mandatory
unnecessary, not needed, not required
superfluous, unnecessary
possible, feasible
impossible, not possible, cannot
likely, probable
probably, likely, presumably
maybe, perhaps, possibly
unlikely, improbable
guaranteed, assured, ensured
deliberate, intentional, wilful
on purpose, intentionally, deliberately
by accident, accidentally, unintentionally
accidentally, inadvertently, by mistake
by mistake, accidentally, erroneously
unwanted, undesired
unexpected, unforeseen
sudden, abrupt
gradually, step by step
by yourself, on your own
automatic, automated
self service, on your own
on site, on premises
paperless, electronic
on paper, in writing, printed
in writing, written, written form
by email, via email, electronically
by phone, telephone
by post, by mail, postal
spoken, verbal, oral
freely, without restriction
including, inclusive
except, apart from, other than
apart from, except, besides
besides, in addition
in addition, additionally
instead, alternatively, in lieu
instead of, rather than, in place of
because, due to, owing to
because of, due to, as a result
despite, in spite of, regardless
regardless, irrespective, no matter
unless, except when
in case of, in the event
whenever, every time
according to, in accordance, pursuant
regarding, concerning, relating to
depending on, varies
opposite, reverse, inverse
versus, compared with
blunt, dull
round, circular
bent, curved
crooked, misaligned
loose, not tight
gentle, mild
dirty, unclean
quiet, low noise, silent
dark, dim
colourful, multicolored
fragile, breakable, delicate
durable, long lasting
sturdy, robust, stable
stable, steady
unsafe, hazardous, dangerous
risky, dangerous
careful, cautious
carefully, with care
careless, negligent
polite, courteous, respectful
impolite, rude
happy, satisfied
unhappy, dissatisfied, displeased
afraid, fear, scared
relevant, applicable
independent, autonomous
dependent, reliant
famous, well known, notable
popular, widely used
inexperienced, beginner, novice
skilled, qualified, trained
smart, intelligent
busy, occupied
busy, in use
in use, occupied
idle, inactive, unused
unused, not in use
dead, deceased
male, man
female, woman
rich, wealthy
handmade, by hand
artificial, synthetic
environmentally friendly, sustainable, eco friendly
green, environmentally friendly
asap, immediately, urgently
correct, proper
`

/** Nouns of any subject. */
const nouns = `
reason, grounds, justification
excuse, justification
purpose, objective
aim, objective
outcome, consequence
consequence, effect, result
effect, impact
method, procedure, technique
technique, approach
steps, procedure, instructions
step, stage, phase
how to, procedure
instruction, guidance
guide, manual, handbook
hint, advice
advice, guidance, recommendation
suggestion, proposal, recommendation
idea, suggestion
question, query, inquiry
explanation, description
details, particulars
information, details
info, information
know how, expertise, knowledge
skill, ability, competence
ability, capability
skills, qualifications, competencies
experience, expertise
obstacle, barrier, hindrance
challenge, difficulty
mistake, error
misunderstanding, confusion
failure, breakdown
accident, mishap
emergency, crisis
disaster, catastrophe
threat, danger
precaution, safety measure
incident, event, occurrence
requirement, criterion, condition
rules, regulations, guidelines
exception, special case
limitation, constraint
obligation, duty
duty, responsibility
task, assignment
chore, task
person, individual
people, persons
people, individuals
human, person
guy, man
folks, people
everyone, all persons
anyone, any person
nobody, no one
someone, somebody
adult, grown up
parents, mother and father
mom, mother
mum, mother
dad, father
grandparents, grandmother
grandma, grandmother
grandpa, grandfather
brother, sibling
sister, sibling
siblings, brothers and sisters
relatives, family members, kin
family, household
next of kin, relative
boyfriend, partner
girlfriend, partner
fiance, engaged
audience, viewers, spectators
club, association
chair, chairperson, chairman
president, head of state
king, monarch
queen, monarch
deputy, vice
expert, specialist, professional
beginner, newbie, novice
newbie, newcomer
contact, contact person
contact person, point of contact, who to contact
contact details, contact information, phone number
phone number, telephone number
hotline, helpline, phone support
place, location
location, site
spot, place
area, region
region, district
district, area
neighborhood, district, neighbourhood
town, municipality
village, municipality
border, boundary
centre, middle
trip, tour
tour, guided visit
sightseeing, tour
room, space
bathroom, toilet
toilet, restroom, lavatory
restroom, washroom, toilet
attic, loft
elevator, lift
stairs, staircase, stairway
floor, storey
ground floor, first floor
ceiling, roof
exit, way out
yard, garden
car park, parking garage
furniture, furnishings
closet, wardrobe, cupboard
cabinet, cupboard
sofa, couch
rug, carpet
bag, luggage
backpack, rucksack
box, container
box, carton
cutlery, flatware
pot, saucepan
tool, instrument
equipment, gear
device, appliance, unit
device, gadget
machine, device
stuff, things, items
thing, item, object
item, article
products, merchandise
belongings, possessions, personal items
valuables, valuable items
clothes, garments
shoes, footwear
trousers, pants
uniform, work clothes
lunch, midday meal
dinner, evening meal
drink, beverage
alcohol, alcoholic beverages
booze, alcohol
candy, sweets
cookie, biscuit
allergens, allergies
storm, thunderstorm
pet, domestic animal
insects, pests
pest, vermin
mice, rodents
forest, woodland
sea, ocean
coast, shore
island, isle
stone, rock
scientist, researcher
researcher, academic
invention, innovation
singer, vocalist
novel, book
magazine, journal, periodical
newspaper, press
summary, overview, abstract
introduction, preface
appendix, annex
abbreviation, acronym, short form
surname, last name, family name
first name, given name, forename
middle name, second name
maiden name, birth name
figure, illustration
amount, quantity, sum
quantity, amount, number
rate, percentage
ratio, proportion
speed, velocity
age, years old
birthday, date of birth
dob, date of birth
birthdate, date of birth
place of birth, birthplace
period, time span, duration
time frame, period, timeframe
deadline, cutoff, cut off
expiry, expiration, end of validity
expiry date, expiration date, valid until
best before, expiry date
validity, valid, expiry
timeline, schedule
century, 100 years
decade, ten years
notice, announcement
type, kind, sort
variant, version
design, layout
layout, arrangement
ingredients, composition, contents
feature, characteristic
function, feature, functionality
characteristic, property, trait
standard, norm
usage, use
pros, advantages
cons, disadvantages
pros and cons, advantages and disadvantages
weakness, shortcoming
chance, probability, likelihood
odds, probability
limit, threshold
shortage, lack
surplus, excess
leftover, remaining, remainder
inventory, stock list
source, origin
connection, relationship
conversation, discussion
agreement, consensus
approval, authorization
permission, authorization, permit
permit, license
licence, permit
control, supervision
supervision, oversight
change, modification
change, amendment
amendment, modification
growth, increase
decrease, reduction, decline
substitute, alternative
combination, mixture
mixture, blend
line, queue
queue, waiting line
waiting list, waitlist
waiting time, wait
pause, interruption
interruption, disruption
attendance, participation
participation, involvement
competition, contest, tournament
prize, award
winner, champion
team, squad
exercise, physical activity
football, soccer
hobby, leisure
leisure, free time, spare time
celebration, festivity
christmas, december 25
painting, artwork
sculpture, statue
theatre, theater
cinema, movie theater
movie, film, motion picture
tv show, television series
religion, faith, belief
peace, truce
army, military, armed forces
troops, soldiers
rebellion, uprising, revolt
revolution, uprising
ruler, monarch
empire, kingdom
slave, enslaved
murder, homicide
cause of death, died of
ancestor, forefather
descendant, offspring
tradition, custom
native language, mother tongue
translator, interpreter
`

export const english = [general, work, software, administration, devices, money, health, verbs, adjectives, nouns].join("")
