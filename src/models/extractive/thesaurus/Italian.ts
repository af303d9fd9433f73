/** Groups of Italian words and phrases that stand for each other, one a line, as `Synonyms.ts` reads them. */
export const italian = `
dipendente, lavoratore, impiegato
personale, dipendenti
capo, superiore, responsabile
collega, collaboratore
azienda, ditta, impresa
società, azienda
lavoro, impiego, occupazione
assumere, assunzione
candidatura, domanda di lavoro
colloquio, intervista
ferie, vacanze
giorno libero, permesso, ferie
festivo, giorno festivo
incinta, gravidanza, maternità
matrimonio, nozze
lutto, decesso
malato, malattia
certificato medico, certificato di malattia
medico, dottore
infortunio, incidente sul lavoro
stipendio, retribuzione, salario
busta paga, cedolino
straordinario, ore extra
orario, orario di lavoro
lavoro da casa, telelavoro, lavoro agile
smart working, lavoro agile
ritardo, in ritardo
licenziare, licenziamento
dimettersi, dimissioni
preavviso, periodo di preavviso
pensione, pensionamento
trasferta, viaggio di lavoro
spese, costi
rimborsare, rimborso
ricevuta, scontrino
macchina, auto, automobile
auto, veicolo
biglietto, titolo di viaggio
aereo, volo
albergo, hotel, alloggio
corso, formazione
riunione, incontro
rimandare, rinviare, posticipare
annullare, cancellare
disdire, recedere, disdetta
reclamo, lamentela
molestie, vessazioni
ufficio, luogo di lavoro
parcheggio, posto auto
mensa, ristorazione
bagno, servizi igienici
spazzatura, rifiuti
buttare, smaltire
incendio, fuoco
uscita di sicurezza, uscita di emergenza
ferito, lesione
non funziona, guasto, malfunzionamento
rotto, danneggiato, difettoso
aggiustare, riparare
riparazione, assistenza
problema, errore, anomalia
risoluzione dei problemi, soluzione problemi
manutenzione, cura
sostituire, cambiare
ricambio, pezzo di ricambio
garanzia, copertura
restituire, restituzione, reso
fattura, fatturazione
pagare, versare, pagamento
bonifico, trasferimento
bancomat, carta di debito
conto bancario, conto corrente
prestito, finanziamento
mutuo, prestito
tassa, imposta, tributo
dichiarazione dei redditi, dichiarazione fiscale
multa, sanzione
assicurazione, polizza
contratto, accordo
condizioni, termini
avvocato, legale
comprare, acquistare, acquisto
ordine, acquisto
spedizione, consegna
spedire, inviare, mandare
pacco, spedizione
prezzo, costo, tariffa
economico, conveniente
sconto, riduzione
preventivo, offerta
affitto, locazione, canone
affittare, locare
padrone di casa, locatore, proprietario
inquilino, conduttore, locatario
trasloco, cambio di residenza
indirizzo, domicilio
comune, municipio
modulo, formulario
compilare, riempire
firmare, sottoscrivere, firma
presentare, consegnare
richiedere, chiedere
ricorso, reclamo
autorizzazione, permesso, consenso
permesso, consentito
permettere, consentire
vietato, proibito
obbligatorio, richiesto
bisogna, necessario, occorre
servire, occorrere, necessario
facoltativo, opzionale
regola, norma, regolamento
legge, normativa
istruzioni, manuale, guida
patente, patente di guida
carta di identità, documento di identità
scuola, istituto
alunno, studente, allievo
insegnante, docente
professore, docente
esame, prova
voto, valutazione
iscriversi, iscrizione
medicina, farmaco, medicinale
ricetta, prescrizione
effetto collaterale, effetto indesiderato
vaccino, vaccinazione
cellulare, telefonino, smartphone
telefono, cellulare
computer, pc, elaboratore
schermo, display, monitor
stampante, stampa
stampare, stampa
batteria, pila
caricare, ricaricare
caricabatterie, alimentatore
presa, presa di corrente
staccare, scollegare
attaccare, collegare
televisore, televisione, tv
telecomando, controllo remoto
frigo, frigorifero
lavatrice, macchina da lavare
accendere, attivare
spegnere, disattivare
avviare, iniziare
riavviare, riavvio
pulsante, tasto
premere, schiacciare
scegliere, selezionare
applicazione, app
programma, software
cartella, directory
allegato, file allegato
foto, immagine, fotografia
accedere, login, accesso
uscire, disconnettersi
profilo, account
cestino, eliminati
cancellare, eliminare, rimuovere
togliere, rimuovere
recuperare, ripristinare
salvare, memorizzare
copia di sicurezza, backup
scaricare, download
condividere, condivisione
nascondere, occultare
mostrare, visualizzare
aggiornare, aggiornamento
installare, installazione
disinstallare, rimuovere
impostazioni, configurazione, opzioni
bloccare, blocco
collegamento, link
posta, email
sito, sito web
pulire, pulizia
rumore, suono
perdita, fuoriuscita
montare, assemblare
smontare, disassemblare
usare, utilizzare
ottenere, ricevere
perdere, smarrire, smarrimento
rubato, furto
cercare, trovare
controllare, verificare
avvisare, informare, comunicare
aiuto, assistenza, supporto
cominciare, iniziare
finire, terminare, concludere
continuare, proseguire
diminuire, ridurre
giornaliero, ogni giorno, quotidiano
settimanale, ogni settimana
mensile, ogni mese, al mese
annuale, ogni anno, annuo
due volte, doppio
subito, immediatamente
velocemente, rapidamente
spesso, frequentemente
quanto tempo, durata
quante volte, frequenza
scadenza, termine
circa, approssimativamente
almeno, minimo
al massimo, massimo
più di, superiore
meno di, inferiore
abbastanza, sufficiente
troppo, eccessivo
pericoloso, pericolo
facile, semplice
difficile, complicato
motivo, ragione, causa
vantaggio, beneficio
svantaggio, inconveniente
differenza, distinzione
requisito, condizione
scopo, obiettivo
dimensione, grandezza
data di nascita, compleanno
coniuge, marito, moglie
asilo, nido
bambino, minore
neonato, bebè
`
